/** A key that a list understands. */
export type PickerKey =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "move"; readonly to: "up" | "down" | "page-up" | "page-down" | "first" | "last" }
  | { readonly type: "take" | "leave" | "erase" | "erase-word" | "erase-all" | "switch" };

const PLAIN: { readonly [sequence: string]: PickerKey } = {
  "\r": { type: "take" },
  "\n": { type: "take" },
  "\t": { type: "switch" },
  "\u001b": { type: "leave" },
  "\u0003": { type: "leave" },
  "\u0004": { type: "leave" },
  "\u007f": { type: "erase" },
  "\b": { type: "erase" },
  "\u0015": { type: "erase-all" },
  "\u0017": { type: "erase-word" },
  "\u0010": { type: "move", to: "up" },
  "\u000e": { type: "move", to: "down" },
};

/** The last letter of a CSI or SS3 sequence. */
const BY_LETTER: { readonly [letter: string]: PickerKey } = {
  A: { type: "move", to: "up" },
  B: { type: "move", to: "down" },
  H: { type: "move", to: "first" },
  F: { type: "move", to: "last" },
  Z: { type: "switch" },
};

/** The number of a sequence that ends with `~`. */
const BY_NUMBER: { readonly [number: string]: PickerKey } = {
  "1": { type: "move", to: "first" },
  "4": { type: "move", to: "last" },
  "5": { type: "move", to: "page-up" },
  "6": { type: "move", to: "page-down" },
  "7": { type: "move", to: "first" },
  "8": { type: "move", to: "last" },
};

const CONTROL = 4;
// oxlint-disable-next-line no-control-regex -- key sequences begin with Esc
const SEQUENCE = /^\u001b(?:\[(?<numbers>[\d;:]*)|O)(?<end>[A-Za-z~])$/;
// oxlint-disable-next-line no-control-regex -- key sequences begin with Esc
const PASTE = /^\u001b\[200~([^]*?)(?:\u001b\[201~)?$/;

/**
 * Reads one key, or one paste, as a terminal sends it: plainly, with the keyboard protocol of kitty (`CSI code ; modifiers u`), or with modifyOtherKeys
 * (`CSI 27 ; modifiers ; code ~`). `undefined`: a list does nothing with it.
 */
export function readPickerKey(sequence: string): PickerKey | undefined {
  const known = PLAIN[sequence];
  if (known !== undefined) return known;
  const pasted = PASTE.exec(sequence)?.[1];
  if (pasted !== undefined) return textKey(pasted.split(/[\r\n]/, 1)[0] ?? "");
  const found = SEQUENCE.exec(sequence)?.groups;
  if (found === undefined) return sequence.startsWith("\u001b") ? undefined : textKey(sequence);
  const { numbers = "", end = "" } = found;
  const [first = "", second = "", third = ""] = numbers.split(";");
  if (end === "u") return isRelease(second) ? undefined : codedKey(first, second);
  if (end === "~" && first === "27") return codedKey(third, second);
  if (isRelease(second)) return undefined;
  return end === "~" ? BY_NUMBER[first] : BY_LETTER[end];
}

/** True for the event of a key that is released. */
function isRelease(modifiers: string): boolean {
  return modifiers.split(":")[1] === "3";
}

/** @param code of the character; of alternatives behind a colon, the first counts */
function codedKey(code: string, modifiers: string): PickerKey | undefined {
  const point = Number(code.split(":")[0]);
  if (!Number.isInteger(point) || point <= 0 || point > 0x10_ff_ff) return undefined;
  const held = Math.max(0, (Number(modifiers.split(":")[0]) || 1) - 1);
  const character = String.fromCodePoint(point);
  if ((held & CONTROL) !== 0) return /^[a-z]$/.test(character) ? PLAIN[String.fromCharCode(point - 0x60)] : undefined;
  return PLAIN[character] ?? textKey(character);
}

function textKey(text: string): PickerKey | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are no text
  const printable = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "");
  return printable === "" ? undefined : { type: "text", text: printable };
}
