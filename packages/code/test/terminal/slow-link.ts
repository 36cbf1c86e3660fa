import { Buffer } from "node:buffer";

/** The speed of a connection. */
export interface SlowLinkSpeed {
  readonly bytesPerSecond: number;
  /** The time that keys take to the process, and that what it writes takes to the screen. */
  readonly latencyMs: number;
}

/** The part of a pseudo-terminal that a connection needs. */
export interface LinkedTerminal {
  write(keys: string): void;
  /** Stops reading: a process that writes on is blocked once the buffer of the system is full. */
  pause(): void;
  resume(): void;
}

export interface SlowLinkOptions extends SlowLinkSpeed {
  show(bytes: Uint8Array): void;
}

/** A connection between a pseudo-terminal and a screen, such as one over a radio network. */
export interface SlowLink {
  /** Takes what the process has written. */
  carry(written: string | Uint8Array): void;
  type(keys: string): void;
  close(): void;
}

/** The time between two pieces. */
const PIECE_MS = 10;
/** A machine that is busy makes up for time that it has lost by at most so much. */
const MAX_PIECE_MS = 50;

/** Carries at most so many bytes in a second, and reads on only after it has carried what it has. */
export function createSlowLink(pty: LinkedTerminal, { bytesPerSecond, latencyMs, show }: SlowLinkOptions): SlowLink {
  let waiting = Buffer.alloc(0);
  let pumping: NodeJS.Timeout | undefined;
  const underWay = new Set<NodeJS.Timeout>();

  function later(act: () => void): void {
    if (latencyMs === 0) return act();
    const timer = setTimeout(() => {
      underWay.delete(timer);
      act();
    }, latencyMs);
    underWay.add(timer);
  }

  function pump(since: number): void {
    pumping = setTimeout(() => {
      const at = performance.now();
      const size = Math.max(1, Math.floor((bytesPerSecond * Math.min(MAX_PIECE_MS, at - since)) / 1_000));
      const piece = waiting.subarray(0, size);
      waiting = waiting.subarray(size);
      later(() => show(piece));
      if (waiting.length > 0) return pump(at);
      pumping = undefined;
      pty.resume();
    }, PIECE_MS);
  }

  return {
    carry(written) {
      waiting = Buffer.concat([waiting, typeof written === "string" ? Buffer.from(written) : written]);
      if (pumping !== undefined || waiting.length === 0) return;
      pty.pause();
      pump(performance.now());
    },
    type: (keys) => later(() => pty.write(keys)),
    close() {
      clearTimeout(pumping);
      for (const timer of underWay) clearTimeout(timer);
    },
  };
}
