import { PAUSE } from "./pause-key.ts";

/**
 * Loaded before the command: the pauses of a person and the frames of the status come when a test says so, by a key that means
 * nothing else. It comes the way of all keys, so whatever was typed before it was read before it, however slow the machine is.
 */
const BY_HAND = /\/modes\/(?:quiet-time|watch-run)\.ts/;
const NEVER_MS = 2 ** 31 - 1;

const { setTimeout: startTimer, clearTimeout: stopTimer, setInterval: startTicking } = globalThis;
const held = new Map<unknown, () => void>();

/** True if the file that asks for the timer is one of these. The frames that their calls result in come by themselves. */
const calledByHand = (): boolean => BY_HAND.test((new Error("the caller").stack ?? "").split("\n")[3] ?? "");

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

// A listener would have the stream read before the command does.
const emit = process.stdin.emit.bind(process.stdin);
process.stdin.emit = (event: string | symbol, ...args: unknown[]): boolean => {
  const isHeard = emit(event, ...args);
  if (event !== "data" || !String(args[0]).includes(PAUSE)) return isHeard;
  // After the command has heard of it, as of any key.
  setImmediate(() => {
    for (const [timer, act] of [...held]) {
      globalThis.clearTimeout(timer as NodeJS.Timeout);
      act();
    }
  });
  return isHeard;
};
