import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeadOwner, processOwner } from "keelson/state";
import type { StepKind } from "./journal-record.ts";

/** A step, or an undo, that a process works on. */
export interface OpenStep {
  readonly id: string;
  /** The session whose journal has it. */
  readonly session: string;
  readonly kind: StepKind | "undo";
  /** Unix ms. */
  readonly at: number;
  readonly owner: string;
  /** Order among steps that began in the same millisecond. */
  readonly number: number;
}

/** A process that lives shows it this often while a command runs. */
const BEAT_MS = 50;
/** A change that was made longer than this after the last sign of life was not made by the process that was killed, nor by its command. */
export const BEAT_GRACE_MS = 500;

/**
 * The steps of a project that are open, each with the process that works on it. A step whose process is dead is closed by the next process that uses the
 * history. The time of the last sign of life separates the changes of a killed command from later ones.
 */
export class OpenSteps {
  readonly #folder: string;
  readonly #own = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  open(step: Omit<OpenStep, "owner" | "number">): void {
    const open: OpenStep = { ...step, owner: processOwner(), number: this.#count++ };
    const draft = join(this.#folder, `${step.id}.new`);
    writeFileSync(draft, JSON.stringify(open), { mode: 0o600 });
    renameSync(draft, this.#pathOf(step.id));
    this.#own.add(step.id);
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  close(id: string): void {
    rmSync(this.#pathOf(id), { force: true });
    this.#own.delete(id);
    if (this.#own.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Returns the open steps of all processes, oldest first. */
  list(): readonly OpenStep[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => this.#read(name))
      .filter((step) => step !== undefined)
      .toSorted((a, b) => a.at - b.at || a.number - b.number);
  }

  isDead({ owner }: OpenStep): boolean {
    return isDeadOwner(owner);
  }

  /** Returns when the process of a step last gave a sign of life. Unix ms of the clock of the file system. */
  lastBeat(id: string): number {
    return statSync(this.#pathOf(id), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  #beat(): void {
    const now = new Date();
    for (const id of this.#own) {
      try {
        utimesSync(this.#pathOf(id), now, now);
      } catch {
        // The step was closed by another process, which took this one for dead.
      }
    }
  }

  #read(name: string): OpenStep | undefined {
    try {
      return JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as OpenStep;
    } catch {
      return undefined;
    }
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
