/** What a program has switched on in a terminal, so that it can be switched off again, or back on. */
export interface TerminalModes {
  /** `CSI ? … h` and `l`. */
  setPrivate(mode: number, on: boolean): void;
  /** `CSI … h` and `l`. */
  setAnsi(mode: number, on: boolean): void;
  /** The kitty keyboard: `CSI > flags u` pushes, `CSI < n u` pops, `CSI = flags u` sets. */
  pushKeyboard(flags: number): void;
  popKeyboard(count: number): void;
  setKeyboard(flags: number): void;
  /** `CSI > 4 ; value m`: how modified keys are reported. */
  setModifyKeys(value: number): void;
  setKeypad(application: boolean): void;
  setCursorStyle(style: number): void;
  /** `CSI top ; bottom r`: the lines that scroll; undefined for all of them. */
  setScrolling(region: string | undefined): void;
  /** `OSC 8`: what is written from now on leads somewhere, or does not. */
  setLink(open: boolean): void;
  /** `ESC c`: all is as in a fresh terminal. */
  reset(): void;
  isOn(mode: number): boolean;
  readonly otherScreen: boolean;
  /** The sequences that give the terminal back as a fresh one has it. */
  off(): string;
  /** The sequences that put on what is on now, in a terminal that was given back. */
  on(): string;
}

/** Arrow keys are sent in another way. */
export const APP_CURSOR = 1;
/** Pasted text comes between markers. */
export const BRACKETED_PASTE = 2004;

/** Private modes that a fresh terminal has on: wrapping, key repeat, the cursor. */
const ON_BY_DEFAULT = new Set([7, 8, 25]);
/** The other screen, by its three names. */
const OTHER_SCREENS = [47, 1047, 1049];
/** Widths and saved cursors are no modes that stay. */
const PASSING = new Set([3, 40, 1048]);
const HIGHEST_MODE = 9_999;
const DEEPEST_STACK = 16;

const ESC = '\u001b';

/** Plain letters and plain colours, as terminfo's sgr0 has them. */
const PLAIN = `${ESC}(B\u000F${ESC}[0m`;
const LINK_END = `${ESC}]8;;${ESC}\\`;

/** Keyboard flags of one screen: those that hold, and those below them. */
interface Keyboard {
  flags: number;
  below: number[];
}

/** Keeps account of a terminal's modes. */
export function createTerminalModes(): TerminalModes {
  const changed = new Set<number>();
  const ansi = new Set<number>();
  let main: Keyboard = { flags: 0, below: [] };
  let other: Keyboard = { flags: 0, below: [] };
  let modifyKeys = 0;
  let keypad = false;
  let cursorStyle = 0;
  let isLink = false;
  /** By screen, the main one and the other. */
  let regions: [main?: string | undefined, other?: string | undefined] = [];

  const otherScreen = (): number | undefined => OTHER_SCREENS.find((mode) => changed.has(mode));
  const keyboard = (): Keyboard => (otherScreen() === undefined ? main : other);
  const plainModes = (): number[] => [...changed].filter((mode) => !OTHER_SCREENS.includes(mode));
  const privateSwitch = (mode: number, back: boolean): string =>
    `${ESC}[?${mode}${ON_BY_DEFAULT.has(mode) === back ? 'h' : 'l'}`;

  return {
    setPrivate(mode, on) {
      if (PASSING.has(mode) || mode > HIGHEST_MODE) return;
      if (on === ON_BY_DEFAULT.has(mode)) changed.delete(mode);
      else changed.add(mode);
    },
    setAnsi(mode, on) {
      if (mode > HIGHEST_MODE) return;
      if (on) ansi.add(mode);
      else ansi.delete(mode);
    },
    pushKeyboard(flags) {
      const { below } = keyboard();
      below.push(keyboard().flags);
      if (below.length > DEEPEST_STACK) below.shift();
      keyboard().flags = flags;
    },
    popKeyboard(count) {
      const board = keyboard();
      for (let i = 0; i < Math.min(count, DEEPEST_STACK); i++) board.flags = board.below.pop() ?? 0;
    },
    setKeyboard: (flags) => (keyboard().flags = flags),
    setModifyKeys: (value) => (modifyKeys = value),
    setKeypad: (application) => (keypad = application),
    setCursorStyle: (style) => (cursorStyle = style),
    setScrolling: (region) => (regions[otherScreen() === undefined ? 0 : 1] = region),
    setLink: (open) => (isLink = open),
    reset() {
      changed.clear();
      ansi.clear();
      main = { flags: 0, below: [] };
      other = { flags: 0, below: [] };
      modifyKeys = 0;
      keypad = false;
      cursorStyle = 0;
      isLink = false;
      regions = [];
    },
    isOn: (mode) => changed.has(mode) !== ON_BY_DEFAULT.has(mode),
    get otherScreen() {
      return otherScreen() !== undefined;
    },
    off: () =>
      [
        modifyKeys === 0 ? '' : `${ESC}[>4m`,
        keypad ? `${ESC}>` : '',
        cursorStyle === 0 ? '' : `${ESC}[0 q`,
        ...[...ansi].map((mode) => `${ESC}[${mode}l`),
        ...plainModes().map((mode) => privateSwitch(mode, true)),
        // Each screen has its own keyboard.
        keyboardOff(other),
        isLink ? LINK_END : '',
        PLAIN,
        otherScreen() === undefined || regions[1] === undefined ? '' : scrolling(''),
        ...OTHER_SCREENS.filter((mode) => changed.has(mode)).map((mode) => privateSwitch(mode, true)),
        keyboardOff(main),
        regions[0] === undefined ? '' : scrolling(''),
      ].join(''),
    on: () =>
      [
        keyboardOn(main),
        regions[0] === undefined ? '' : scrolling(regions[0]),
        ...OTHER_SCREENS.filter((mode) => changed.has(mode)).map((mode) => privateSwitch(mode, false)),
        keyboardOn(other),
        otherScreen() === undefined || regions[1] === undefined ? '' : scrolling(regions[1]),
        ...plainModes().map((mode) => privateSwitch(mode, false)),
        ...[...ansi].map((mode) => `${ESC}[${mode}h`),
        cursorStyle === 0 ? '' : `${ESC}[${cursorStyle} q`,
        keypad ? `${ESC}=` : '',
        modifyKeys === 0 ? '' : `${ESC}[>4;${modifyKeys}m`,
      ].join(''),
  };
}

/** Sets the lines that scroll, with the cursor where it was: terminals send it to the corner. */
function scrolling(region: string): string {
  return `${ESC}7${ESC}[${region}r${ESC}8`;
}

function keyboardOff({ flags, below }: Keyboard): string {
  if (below.length > 0) return `${ESC}[<${below.length}u${below[0] === 0 ? '' : `${ESC}[=0u`}`;
  return flags === 0 ? '' : `${ESC}[=0u`;
}

function keyboardOn({ flags, below }: Keyboard): string {
  const [first, ...pushed] = [...below, flags];
  return `${first === 0 ? '' : `${ESC}[=${first}u`}${pushed.map((each) => `${ESC}[>${each}u`).join('')}`;
}
