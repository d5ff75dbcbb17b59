/** One thing that was looked at; `ok` is false only for what needs someone's hand. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}
