import { QUIET_MS } from "../modes/quiet-time.ts";
import { type After, afterReading } from "../terminal/after-reading.ts";
import type { SharedKeyboard } from "./shared-keyboard.ts";
import type { ShowCues } from "./show-cues.ts";
import type { ShowPace } from "./show-pace.ts";

export interface DirectShowOptions {
  readonly keyboard: Pick<SharedKeyboard, "press" | "ready" | "answerKeys" | "beginAnswer">;
  readonly cues: ShowCues;
  readonly pace: ShowPace;
  /** Aborts if the person leaves. */
  readonly signal: AbortSignal;
  /** True if files of the project are changed. */
  isChanged(): Promise<boolean>;
  /** The real clock, for what does not depend on the pace. */
  readonly after?: After;
}

/** The message of the show in the pieces in which it is typed: the menu of files is seen between them. */
const MESSAGE = ["Make the failing tests pass. I suspect @src/", "money.js, so start there."];
const UNDO = ["/un", "do"];
const QUIT = ["/quit"];

// A pace that can be read along with.
const OPENING_MS = 3_500;
const KEY_MS = 38;
const PIECE_MS = 1_400;
const ENTER_MS = 500;
const READ_QUESTION_MS = 4_000;
const READ_END_MS = 5_500;
const READ_UNDO_MS = 2_800;
/** A person who has begun to answer has this long for the next key. */
const PERSON_MS = 20_000;
/** The conversation must react to an answer within this time, else the answer is given again. */
const REACTION_MS = 4_000;
const MAX_ANSWERS = 3;
/** The time after which something that is waited for does not come any more. */
const STUCK_MS = 180_000;

const CLEAR_LINE = "\u0015";
const ENTER = "\r";
const SHIFT_TAB = "\u001b[Z";

/**
 * Plays the person in a conversation: types the message, answers the questions that the person does not answer, changes the mode, undoes the changes and
 * leaves. Rejects if the conversation does not react.
 */
export async function directShow(options: DirectShowOptions): Promise<void> {
  const { keyboard, cues, pace, signal, isChanged, after = afterReading } = options;
  const pause = (ms: number): Promise<void> => pace.sleep(ms, signal);

  /** Waits in real time. */
  async function within(ms: number, condition: () => boolean): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = after(ms, resolve);
    try {
      return await cues.until(condition, { signal, instead: late });
    } finally {
      cancel();
    }
  }

  async function expect(what: string, condition: () => boolean): Promise<void> {
    if (!(await within(STUCK_MS, condition))) throw new Error(`The demo ended early, because ${what} did not come to an end.`);
  }

  async function send(pieces: readonly string[]): Promise<void> {
    pace.step();
    keyboard.press(CLEAR_LINE);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await pause(PIECE_MS);
      for (const key of piece) {
        keyboard.press(key);
        await pause(KEY_MS);
      }
    }
    await pause(ENTER_MS);
    keyboard.press(ENTER);
  }

  /** Leaves the question to a person who answers it, and answers it otherwise. */
  async function answer(): Promise<void> {
    pace.step();
    keyboard.beginAnswer();
    const isAnswered = (): boolean => !cues.isAsked;
    for (let given = 0; given < MAX_ANSWERS;) {
      const keys = keyboard.answerKeys;
      const reading = pause(keys === 0 ? READ_QUESTION_MS : PERSON_MS);
      // An answer is read after a pause of all keys.
      if ((await cues.until(isAnswered, { signal, instead: reading })) || (await within(QUIET_MS + 200, isAnswered))) return;
      if (keyboard.answerKeys !== keys) continue;
      keyboard.press(CLEAR_LINE);
      keyboard.press("y");
      await pause(ENTER_MS);
      keyboard.press(ENTER);
      given += 1;
      if (!(await within(REACTION_MS, isAnswered))) continue;
      // The next edit runs unasked: the status line shows the mode.
      return keyboard.press(SHIFT_TAB);
    }
    throw new Error("The demo ended early, because its answer to a question was not accepted.");
  }

  await keyboard.ready;
  await pause(OPENING_MS);
  await send(MESSAGE);
  const isOver = (): boolean => cues.runs > 0;
  while (!isOver()) {
    await expect("the work of the agent", () => cues.isAsked || isOver());
    if (cues.isAsked) await answer();
  }
  pace.step();
  await pause(READ_END_MS);
  if (await isChanged()) {
    await send(UNDO);
    await expect("/undo", () => cues.commands > 0);
    pace.step();
    await pause(READ_UNDO_MS);
  }
  await send(QUIT);
}
