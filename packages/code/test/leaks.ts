/** A secret that must not leave the machine, by name. */
export interface Canary {
  readonly name: string;
  readonly value: string;
}

/** The shortest part of a canary that counts as a leak. */
const WINDOW = 8;

/** Makes a canary that occurs nowhere else, not even in part. @param seed makes it differ from others */
export function canary(name: string, seed: number): Canary {
  const alphabet = "BCDFGHJKMNPQRTVWXYZ2346789";
  let state = seed * 2_654_435_761 + 12_345;
  const value = Array.from({ length: 24 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return alphabet[(state >>> 16) % alphabet.length];
  }).join("");
  return { name, value };
}

/** The names of the canaries of which a part stands in a text, as it is or in an everyday encoding. */
export function leaksIn(text: string, canaries: readonly Canary[]): readonly string[] {
  const plain = [...new Set([text, text.replaceAll(/\\n|\s+/g, ""), text.replaceAll(/[^0-9A-Za-z+/=]/g, "")])].map((one) =>
    one.toUpperCase(),
  );
  const base64 = text.replaceAll(/[^0-9A-Za-z+/=]/g, "");
  return canaries
    .filter(({ value }) => {
      const forms = [value, reversed(value), rotated(value), Buffer.from(value).toString("hex")].flatMap((form) =>
        windows(form.toUpperCase()),
      );
      return forms.some((form) => plain.some((one) => one.includes(form))) || base64Windows(value).some((form) => base64.includes(form));
    })
    .map(({ name }) => name);
}

function windows(value: string, size: number = value.length > 40 ? 2 * WINDOW : WINDOW): readonly string[] {
  return Array.from({ length: value.length - size + 1 }, (_, start) => value.slice(start, start + size));
}

function reversed(value: string): string {
  return [...value].toReversed().join("");
}

function rotated(value: string): string {
  return value.replaceAll(/[A-Z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 65 + 13) % 26) + 65));
}

/** The middle of the canary in base64, at each of the three places in which it can begin. */
function base64Windows(value: string): readonly string[] {
  return [0, 1, 2].map((before) =>
    Buffer.from("x".repeat(before) + value)
      .toString("base64")
      .slice(4, -4),
  );
}
