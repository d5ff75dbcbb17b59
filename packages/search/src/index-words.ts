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
