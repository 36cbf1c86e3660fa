import type { OpenToolSource, Tool, ToolPins, ToolSource, ToolSourcePlace } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";

const NONE: readonly Tool[] = [];

/** A source of tools in the use of one run, from when it is opened until this process lets go of the run. Nothing here rejects. */
export class RunSource {
  readonly name: string;
  /** Resolves when it offers all that it does at its start, or is known not to. */
  readonly ready: Promise<void>;
  readonly #source: ToolSource;
  readonly #listeners = new Set<() => void>();
  #opened: OpenToolSource | undefined;
  /** Why it offers nothing. */
  #failure: string | undefined;
  #problem: string | undefined;
  #tools: readonly Tool[] = NONE;
  #isReady = false;
  #isClosed = false;
  #stopListening: (() => void) | undefined;

  constructor(source: ToolSource, place: ToolSourcePlace) {
    this.name = source.name;
    this.#source = source;
    this.ready = this.#open(place);
  }

  async #open(place: ToolSourcePlace): Promise<void> {
    try {
      const opened = await this.#source.open(place);
      if (this.#isClosed) return await opened[Symbol.asyncDispose]();
      this.#opened = opened;
      this.#stopListening = opened.onChange?.(() => this.#tell());
      this.#tell();
      await opened.ready;
    } catch (error) {
      this.#failure = `The source of tools "${this.name}" could not be opened: ${describeThrown(error)}`;
    }
    this.#isReady = true;
    this.#tell();
  }

  /** What it offers now. A source that throws where it is asked offers what it did. */
  get tools(): readonly Tool[] {
    try {
      this.#tools = this.#opened?.tools() ?? NONE;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = `The source of tools "${this.name}" could not tell what it offers: ${describeThrown(error)}`;
    }
    return this.#tools;
  }

  /** Whether a tool that it does not offer may be there soon. */
  mayCome(name: string): boolean {
    if (this.#failure !== undefined || this.#isClosed) return false;
    return this.#opened?.mayCome?.(name) ?? !this.#isReady;
  }

  get pins(): ToolPins | undefined {
    return this.#source.pins;
  }

  get startupWaitMs(): number {
    return this.#opened?.startupWaitMs ?? this.#source.startupWaitMs ?? 0;
  }

  /** What a person should know of it. */
  get problems(): readonly string[] {
    const own = this.#failure ?? this.#problem;
    if (own !== undefined) return [own];
    return this.#opened?.problems?.() ?? [];
  }

  find(name: string): Tool | undefined {
    return this.tools.find((offered) => offered.name === name);
  }

  /** Resolves when the tool is there, or is known not to come. */
  coming(name: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.find(name) === undefined && this.mayCome(name)) return;
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
      look();
    });
  }

  /** @throws what the source throws */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening?.();
    this.#tell();
    await this.#opened?.[Symbol.asyncDispose]();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
