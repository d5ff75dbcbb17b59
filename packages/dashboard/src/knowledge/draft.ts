/** What somebody has written and not saved yet, and which revision it was written upon. */
export interface Draft {
  /** 0 for a document that is not there yet. */
  base: number;
  title: string;
  tags: string;
  body: string;
  /** How the text was when this began; with it two changes can be brought together. */
  before: string;
  /** Where a new document is to hang. */
  under?: string;
}

const place = (id: string): string => `know-draft:${id}`;

/** The draft for a document, kept by this browser until it is saved or given up. */
export function draftOf(id: string): Draft | undefined {
  try {
    // This page wrote it; its text is checked below.
    const draft = JSON.parse(localStorage.getItem(place(id)) ?? 'null') as Draft | null;
    return draft !== null && typeof draft.body === 'string' ? draft : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(id: string, draft: Draft): void {
  try {
    localStorage.setItem(place(id), JSON.stringify(draft));
  } catch {
    // A full store keeps no draft; what is on the page is still there.
  }
}

export function dropDraft(id: string): void {
  localStorage.removeItem(place(id));
}

/** The tags that somebody has typed, parted by commas. */
export function tagsIn(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}
