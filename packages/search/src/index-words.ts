/** A question's vector, and whether the question is surely in the language of the model. */
export interface AskedVector {
  vector: Float32Array;
  isSure: boolean;
}

/** A document as it is to be found. */
export interface IndexedDocument {
  workspace_id: string;
  document_id: string;
  /** Changes with whatever of it is indexed. */
  version: string;
  revision: number;
  title: string;
  tags: readonly string[];
  mime_type: string;
  body: string;
  /** What it belongs to, where only some may be looked through: the thread of a message. */
  group?: string;
}

/** What the index has of a document. */
export interface KnownDocument {
  document_id: string;
  version: string;
}

export interface FindQuery {
  workspace_id: string;
  text: string;
  /** Only documents that have all of these. */
  tags: readonly string[];
  /** Only what belongs to one of these; left out: everything. */
  groups?: readonly string[];
  limit: number;
  /** One of the two rankings alone, to compare them. */
  leg?: 'keyword' | 'vectors' | 'hybrid';
}

/** A passage that was found. */
export interface FoundPassage {
  document_id: string;
  revision: number;
  title: string;
  /** Its number within the document. */
  passage: number;
  start: number;
  end: number;
  headings: string[];
  text: string;
  /** About 0 to 1, more for what stands out; comparable within one answer only. */
  score: number;
  /** How near it comes to what was asked, 0 to 1, comparable among all answers. */
  fit: number;
}

export interface Found {
  passages: FoundPassage[];
  keyword_hits: number;
  vector_hits: number;
  /** Passages of the workspace that are found by their words alone until their vectors are made. */
  pending: number;
}

/** A sentence that may answer a question: its place in the text of a passage. */
export interface Sentence {
  /** Which of the passages. */
  of: number;
  start: number;
  end: number;
}

/** How an index names a passage; a name is never used for another text. */
type PassageKey = number | string;

/** A passage in the parts that the model is to read. */
export interface WaitingPassage {
  passage: PassageKey;
  texts: string[];
}

/** The vectors of a passage's parts: it is as near as the nearest of them. */
export interface EmbeddedPassage {
  passage: PassageKey;
  vectors: readonly Float32Array[];
}

/** Which document is to go. */
export interface Dropped {
  workspace_id: string;
  document_id: string;
}

/** A document of which nothing that is found by has changed. */
export interface Renumbered extends Dropped {
  was: string;
  version: string;
  revision: number;
}

/** How far the log of a workspace was taken. */
export interface Place {
  workspace_id: string;
  pos: number;
}

/** The model whose vectors an index holds: those of another are never compared with them. */
export interface ModelName {
  id: string;
  dimensions: number;
}

type Soon<T> = T | Promise<T>;

/** What is kept of documents to find them by; the embedded one and Qdrant are alike to those who use it. */
export interface Index {
  /** The place in the log of a workspace up to which all of it is here; undefined where that is not known. */
  place(workspace_id: string): Soon<number | undefined>;
  /** Puts and drops documents and moves the place. What fails half-way is not at its place, and is done again. */
  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place: Place | undefined): Soon<void>;
  /** Drops all of a workspace whose revision is lower. */
  dropBefore(workspace_id: string, revision: number): Soon<void>;
  /** Leaves no word of what was dropped. */
  forget(workspace_id: string): Soon<void>;
  workspaces(): Soon<string[]>;
  known(workspace_id: string): Soon<KnownDocument[]>;
  /** Gives versions another number and leaves their passages alone; the ids of those that it does not have. */
  renumber(documents: readonly Renumbered[]): Soon<string[]>;
  /** Passages that have no vectors yet, each in the parts that the model is given. */
  waiting(limit: number): Soon<WaitingPassage[]>;
  /** Keeps vectors; none says that the model does not know the language. */
  embed(made: readonly EmbeddedPassage[]): Soon<void>;
  /** The passages that answer a question best: by their words, and by their meaning where there is a vector. */
  find(query: FindQuery, asked: AskedVector | undefined, withinMs: number): Soon<Found>;
  close(): void;
}
