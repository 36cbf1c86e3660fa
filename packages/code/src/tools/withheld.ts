import type { ToolCall } from "@keelson/protocol";
import { shownName } from "./shown-name.ts";

const MAX_NAMED = 5;

/** What a search leaves out because the rules of the run deny it, ask about it, or because it is sensitive. */
export interface Withheld {
  /** Whether it is left out; noted where it is. */
  has(path: string): boolean;
  /** For the model, where anything was left out. */
  readonly note: string | undefined;
}

export function createWithheld(mayRead: ToolCall["mayRead"]): Withheld {
  const known = new Map<string, boolean>();
  return {
    has(path) {
      let left = known.get(path);
      if (left === undefined) known.set(path, (left = mayRead?.(path) === false));
      return left;
    },
    get note() {
      const left = [...known].filter(([, isLeft]) => isLeft).map(([path]) => path);
      if (left.length === 0) return undefined;
      const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : "";
      return `[Left out, since the permission rules guard them: ${left.slice(0, MAX_NAMED).map(shownName).join(", ")}${more}. Name one as path to ask for it.]`;
    },
  };
}
