import { PAUSE } from "./pause-key.ts";

/**
 * Loaded before the command: the pauses of a person and the frames of the status come when a test says so, by a key that means
 * nothing else. It comes the way of all keys, so whatever was typed before it was read before it, however slow the machine is.
 */
const BY_HAND = /\/modes\/(?:quiet-time|watch-run)\.ts/;
const NEVER_MS = 2 ** 31 - 1;

const { setTimeout: startTimer, clearTimeout: stopTimer, setInterval: startTicking } = globalThis;
const held = new Map<unknown, () => void>();

/** True if one of these files asks for the timer, itself or through the clock that it was given. The frames that their calls result in come by themselves. */
const calledByHand = (): boolean => BY_HAND.test((new Error("the caller").stack ?? "").split("\n").slice(3, 5).join("\n"));

Object.assign(globalThis, {
  setTimeout: Object.assign((act: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    if (!calledByHand()) return startTimer(act, ms, ...args);
    const timer = startTimer(() => {}, NEVER_MS);
    held.set(timer, () => act(...args));
    return timer;
  }, startTimer),
  clearTimeout: (timer: NodeJS.Timeout | undefined) => {
    held.delete(timer);
    stopTimer(timer);
  },
  setInterval: (act: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    startTicking(act, calledByHand() ? NEVER_MS : ms, ...args),
});

const { emit } = process.stdin;
process.stdin.emit = function (this: typeof process.stdin, event: string | symbol, ...args: unknown[]): boolean {
  const isTaken = Reflect.apply(emit, this, [event, ...args]);
  // After the command has heard of it, as of any key, and before it hears of the next one.
  if (event === "data" && String(args[0]).includes(PAUSE)) passTime();
  return isTaken;
};

function passTime(): void {
  for (const [timer, act] of [...held]) {
    globalThis.clearTimeout(timer as NodeJS.Timeout);
    act();
  }
}
