/**
 * Loaded before the demo: the pauses in which a person reads last until a key skips them, if KEELSON_TEST_PAUSES is `held`, and all other pauses of the
 * show are short.
 */
const BY_SHOW = /\/demo\/show-pace\.ts/;
const READING_MS = 1_400;
const FASTER = 40;
const NEVER_MS = 2 ** 31 - 1;
const isHeld = process.env["KEELSON_TEST_PAUSES"] === "held";

const { setTimeout: startTimer } = globalThis;

/** True if the pace of the show asks for the timer, through the clock of the process. */
const calledByShow = (): boolean => BY_SHOW.test((new Error("the caller").stack ?? "").split("\n").slice(3, 5).join("\n"));

Object.assign(globalThis, {
  setTimeout: Object.assign((act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    if (!calledByShow()) return startTimer(act, ms, ...args);
    return startTimer(act, isHeld && ms >= READING_MS ? NEVER_MS : ms / FASTER, ...args);
  }, startTimer),
});
