import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui";

/** Keys that do more than edit the text. */
export type KeyAction =
  | "send"
  | "new-line"
  | "search"
  | "complete"
  | "mode"
  | "stop"
  | "interrupt"
  | "end"
  | "open-output"
  | "paste-image"
  | "redraw"
  | "external-editor"
  | "tasks"
  | "previous"
  | "next"
  | "take-back"
  | "suspend";

export interface KeyBinding {
  /** The key as people write it: `Ctrl-R`. */
  readonly key: string;
  /** Absent: the key edits the text. */
  readonly name?: KeyAction;
  readonly does: string;
}

/** All keys of the prompt, in the order in which `/help` lists them. */
export const KEYS: readonly KeyBinding[] = [
  { key: "Enter", name: "send", does: "send; while the agent works, steer it" },
  { key: "Shift-Enter, Alt-Enter, Ctrl-J, \\ Enter", name: "new-line", does: "new line" },
  { key: "/", does: "at the start: a command of this list" },
  { key: "!", does: "at the start: a command of the shell, which runs immediately and without a question" },
  { key: "@", does: "a file of the project, which a menu completes" },
  { key: "Up, Down", name: "previous", does: "move; at the first and last line: earlier messages" },
  { key: "Ctrl-R", name: "search", does: "search earlier messages" },
  { key: "Tab", name: "complete", does: "complete what the menu marks" },
  { key: "Shift-Tab", name: "mode", does: "change the permission mode" },
  { key: "Esc", name: "stop", does: "stop the agent; close a menu; go back in a question" },
  { key: "Ctrl-C", name: "interrupt", does: "stop after this step; again: abort; empty the input; leave" },
  { key: "Ctrl-D", name: "end", does: "leave, if the input is empty" },
  { key: "Alt-Up", name: "take-back", does: "edit the last message that the agent has not read" },
  { key: "Ctrl-O", name: "open-output", does: "show all of the last folded output" },
  { key: "Ctrl-T", name: "tasks", does: "show or hide the task list" },
  { key: "Ctrl-V", name: "paste-image", does: "paste an image from the clipboard" },
  { key: "Ctrl-G", name: "external-editor", does: "edit the text in $EDITOR" },
  { key: "Ctrl-L", name: "redraw", does: "draw the screen again" },
  { key: "Ctrl-Z", name: "suspend", does: "suspend keelson" },
  { key: "Ctrl-A, Ctrl-E", does: "start and end of the line" },
  { key: "Alt-B, Alt-F", does: "a word back and forward" },
  { key: "Ctrl-W, Alt-D", does: "delete the word before and after the cursor" },
  { key: "Ctrl-U, Ctrl-K", does: "delete to the start and the end of the line" },
  { key: "Ctrl-Y, Alt-Y", does: "insert what was deleted; then what was deleted before that" },
  { key: "Ctrl-_", does: "undo" },
];

const ACTIONS: { readonly [key: string]: KeyAction } = {
  "enter": "send",
  "shift+enter": "new-line",
  "alt+enter": "new-line",
  "ctrl+enter": "new-line",
  "ctrl+j": "new-line",
  "ctrl+r": "search",
  "tab": "complete",
  "shift+tab": "mode",
  "escape": "stop",
  "ctrl+c": "interrupt",
  "ctrl+d": "end",
  "ctrl+o": "open-output",
  "ctrl+v": "paste-image",
  "alt+v": "paste-image",
  "ctrl+l": "redraw",
  "ctrl+g": "external-editor",
  "ctrl+t": "tasks",
  "up": "previous",
  "ctrl+p": "previous",
  "down": "next",
  "ctrl+n": "next",
  "alt+up": "take-back",
  "ctrl+z": "suspend",
};

/** Returns the action of a key sequence; `undefined` if the key edits the text. */
export function keyAction(sequence: string): KeyAction | undefined {
  // A line feed is Ctrl-J; the library takes it for Enter.
  if (sequence === "\n") return "new-line";
  const name = parseKey(sequence);
  return name !== undefined && Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
}

/** True for the release of a key, which terminals of the kitty protocol may report. */
export function isRelease(sequence: string): boolean {
  return sequence.startsWith("\u001b[") && isKeyRelease(sequence);
}

/** Returns the character of a key that a terminal sent as a sequence, because it reports all keys that way; other keys as they are. */
export function plainKey(sequence: string): string {
  const character = decodeKittyPrintable(sequence);
  if (character !== undefined) return character;
  // oxlint-disable-next-line no-control-regex -- keys begin with one
  const { modifiers, code } = /^\u001b\[27;(?<modifiers>\d+);(?<code>\d+)~$/.exec(sequence)?.groups ?? {};
  if (modifiers === undefined || code === undefined) return sequence;
  // Shift is a part of the character; Caps Lock and Num Lock have no effect on it.
  const isPlain = ((Number(modifiers) - 1) & ~0b1100_0001) === 0;
  return isPlain && Number(code) >= 0x20 && Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : sequence;
}
