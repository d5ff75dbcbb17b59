/** What a text is looked for by: a part of it, or an expression. */
export type Words = string | RegExp;

/** The roles by which the flows look things up. */
export type Role = 'button' | 'dialog' | 'heading' | 'link' | 'option' | 'textbox';

/** Ways to find something on a page, or inside something that was found. */
interface Lookups {
  getByRole(role: Role, options?: { name?: Words; level?: number }): Spot;
  getByLabel(label: Words): Spot;
  getByText(text: Words): Spot;
  locator(selector: string, options?: { hasText?: Words }): Spot;
}

/** Something on a page, looked up anew each time; what is done to it waits until it is there once. */
export interface Spot extends Lookups {
  first(): Spot;
  filter(options: { hasText: Words }): Spot;
  waitFor(options?: { state?: 'visible' | 'detached' }): Promise<void>;
  count(): Promise<number>;
  innerText(): Promise<string>;
  inputValue(): Promise<string>;
  tap(): Promise<void>;
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  check(): Promise<void>;
}

/** A page of the dashboard in any browser, in the words of Playwright, whose pages are such pages. */
export interface View extends Lookups {
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  /** What an expression comes to in the page. */
  evaluate(expression: string): Promise<unknown>;
}
