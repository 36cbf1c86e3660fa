import type { RunId, SessionId } from "./ids.ts";
import type { Tool } from "./tool.ts";
import type { ToolEnvironment } from "./environment.ts";

/** Where a source is opened. */
export interface ToolSourcePlace {
  readonly runId: RunId;
  readonly session: SessionId;
  /** The agent whose run it is. */
  readonly agent: string;
  readonly cwd?: string;
  /** The environment that the run is held in, where there is one: a source that starts programs must use it. */
  readonly environment?: ToolEnvironment;
  /** Fires when this process lets go of the run. */
  readonly signal: AbortSignal;
}

/**
 * Tools that are not known when an agent is defined: those of a server, or of a registry that grows. What it offers is looked at between turns and
 * recorded, so that a turn that is resumed has the tools that it began with.
 */
export interface ToolSource {
  /** Unique among the sources of an agent; it is recorded with what the source offers. */
  readonly name: string;
  /** The same as that of what `open` gives, for a source that takes long to open. */
  readonly startupWaitMs?: number;
  /** Kept for its tools. Default: within a session it is known which version was used or allowed there. */
  readonly pins?: ToolPins;
  /**
   * Called when a process takes a run up, and not waited for by the run: what takes long is done behind it. One that rejects offers nothing, and
   * watchers are told why.
   */
  open(place: ToolSourcePlace): Promise<OpenToolSource> | OpenToolSource;
}

/**
 * Which versions of tools people allowed, kept beyond a session. A tool whose description or schema is another than the one that was allowed is asked
 * about, whatever rule would let it run.
 */
export interface ToolPins {
  /** The version that was allowed last. */
  read(tool: string): Promise<string | undefined>;
  write(tool: string, version: string): Promise<void>;
}

/** A source that a run uses in this process. Disposed of when the process lets go of the run. */
export interface OpenToolSource extends AsyncDisposable {
  /** What it offers now; the same list until that changes. Names must be unique among all tools of the run: the one that was there first stays. */
  tools(): readonly Tool[];
  /** Resolves when it offers all that it does at its start, or knows that it won't; never rejects. Absent: it does at once. */
  readonly ready?: Promise<void>;
  /** How long, in ms, the first turn waits for `ready`. Default 0: tools appear between turns, when they are there. */
  readonly startupWaitMs?: number;
  /**
   * Whether a tool that was offered before, maybe to another process, and is not in `tools` may be there soon. Nobody takes it away meanwhile, and a
   * call of it waits. Default: until `ready` has resolved.
   */
  mayCome?(name: string): boolean;
  /** Calls `listen` when what it offers, or `mayCome`, may have changed. Default: only `ready` says so. @returns what ends that */
  onChange?(listen: () => void): () => void;
  /** What it knows of itself that a person should, such as a server that did not start; asked once `ready` has resolved and between turns. */
  problems?(): readonly string[];
}
