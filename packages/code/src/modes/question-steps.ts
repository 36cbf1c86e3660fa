import type { Decision } from "@keelson/protocol";
import type { Reading } from "../markdown/reading.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Style } from "../text/style.ts";
import type { TerminalInput } from "./terminal-input.ts";

/** How long what *always* allows holds: for this session, or for all later ones in this folder as well. */
export type AlwaysHolds = "session" | "project";

export interface QuestionDialogOptions {
  readonly screen: Screen;
  readonly style: Style;
  /** Renders plans, diffs and their code. Default: they are shown as they were written, in the colours of `style`. */
  readonly reading?: Reading | undefined;
  readonly input: Pick<TerminalInput, "question" | "answer">;
  decide(decision: Decision, holds: AlwaysHolds): void;
}

/** One question to a person, from showing it to its decision. */
export interface QuestionDialog {
  open(): void;
  answer(line: string): void;
  /** Leaves whatever is being edited. @returns whether there was such; else the question itself is on the screen */
  back(): boolean;
}
