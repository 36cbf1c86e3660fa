import type { EffortLevel, PermissionMode } from "@keelson/protocol";
import { MODE_WORDS, nextMode } from "../core/mode-words.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { printableLine } from "../text/printable.ts";
import type { RunSlot } from "./run-slot.ts";

export interface TermChangesOptions {
  readonly slot: Pick<RunSlot, "run" | "withRun">;
  /** The terms of later runs. */
  terms(): RunTerms;
  /** Changes them. @throws if they are impossible, such as a model without a key */
  change(changed: Partial<RunTerms>): void;
  say(line: string): void;
  failed(error: unknown): void;
  /** True if the mode is in sight anyway. */
  readonly hasStatusLine: boolean;
}

/** Changes model, mode and effort, of the run under way and of later ones. */
export interface TermChanges {
  model(name: string): void;
  mode(mode: PermissionMode): void;
  /** @param level `undefined`: as the session was started */
  effort(level: EffortLevel | undefined): void;
  /** Goes to the next mode, as Shift-Tab does. */
  cycleMode(): void;
}

export function createTermChanges({ slot, terms, change, say, failed, hasStatusLine }: TermChangesOptions): TermChanges {
  /** The mode that was asked for last. The run accepts it a little later, and the key may be pressed again before. */
  let wanted: PermissionMode | undefined;

  /** @param line said if the terms are accepted. A run at work has an event that says it. */
  function accept(changed: Partial<RunTerms>, line?: string): void {
    try {
      change(changed);
      if (line !== undefined) say(line);
    } catch (error) {
      failed(error);
    }
  }

  function setMode(mode: PermissionMode, isTold: boolean): void {
    wanted = mode;
    const settled = (then: () => void): void => {
      if (wanted === mode) wanted = undefined;
      then();
    };
    const hasRun = slot.withRun(
      (run) =>
        void run.setPermissionMode(mode).then(
          () => settled(() => accept({ mode })),
          (error: unknown) => settled(() => failed(error)),
        ),
    );
    if (!hasRun) settled(() => accept({ mode }, isTold ? `mode: ${mode} (${MODE_WORDS[mode]})` : undefined));
  }

  return {
    model(name) {
      const accepted = (): void =>
        accept({ model: name }, `model: ${printableLine(name)}${slot.run === undefined ? "" : " from the next turn"}`);
      if (!slot.withRun((run) => void run.setModel(name).then(accepted, failed))) accepted();
    },
    mode: (mode) => setMode(mode, true),
    effort(level) {
      const hasRun = slot.withRun((run) => void run.setEffort(level ?? null).then(() => accept({ effort: level }), failed));
      if (!hasRun) accept({ effort: level }, `effort: ${level ?? "as the session was started"}`);
    },
    cycleMode: () => setMode(nextMode(wanted ?? terms().mode), !hasStatusLine),
  };
}
