import type { OpenToolSource, Tool, ToolSource, ToolSourcePlace } from "@keelson/protocol";

/** A source of tools that a test changes while runs use it. */
export interface GrowingSource extends ToolSource {
  /** Puts these in the place of what it offered. */
  offer(...tools: readonly Tool[]): void;
  /** Where it was opened, and how often it was closed. */
  readonly places: readonly ToolSourcePlace[];
  readonly closed: number;
  /** What it says of itself. */
  problems: readonly string[];
}

export interface GrowingOptions {
  readonly name?: string;
  readonly startupWaitMs?: number;
  /** It is open once this resolves. Default: at once. */
  readonly opening?: Promise<unknown>;
  /** It offers nothing before this resolves. Default: it is ready at once. */
  readonly ready?: Promise<void>;
}

export function growingSource(first: readonly Tool[] = [], options: GrowingOptions = {}): GrowingSource {
  const { name = "shelf", startupWaitMs, opening, ready } = options;
  const places: ToolSourcePlace[] = [];
  let tools = first;
  let closed = 0;
  const source = {
    name,
    places,
    problems: [] as readonly string[],
    get closed() {
      return closed;
    },
    offer(...offered: readonly Tool[]) {
      tools = offered;
    },
    open(place: ToolSourcePlace): OpenToolSource | Promise<OpenToolSource> {
      places.push(place);
      let isReady = ready === undefined;
      void ready?.then(() => (isReady = true));
      const opened: OpenToolSource = {
        tools: () => (isReady ? tools : []),
        ...(ready && { ready }),
        ...(startupWaitMs !== undefined && { startupWaitMs }),
        problems: () => source.problems,
        async [Symbol.asyncDispose]() {
          closed++;
        },
      };
      return opening === undefined ? opened : opening.then(() => opened);
    },
  };
  return source;
}
