import type { EffortLevel, PermissionMode } from "@keelson/protocol";
import { MODE_WORDS, nextMode } from "../core/mode-words.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { printableLine } from "../text/printable.ts";
import type { RunSlot } from "./run-slot.ts";

export interface TermChangesOptions {
  readonly slot: Pick<RunSlot, "run" | "withRun">;
  /** The terms of later runs. */
  terms(): RunTerms;
  /** The levels of effort that a model takes. Empty: none. */
  effortsOf(model: string): readonly EffortLevel[];
  /** Changes them. @throws if they are impossible, such as a model without a key */
  change(changed: Partial<RunTerms>): void;
  say(line: string): void;
  /** Shows a problem that keeps nothing from working. */
  warn(text: string): void;
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

export function createTermChanges(options: TermChangesOptions): TermChanges {
  const { slot, terms, effortsOf, change, say, warn, failed, hasStatusLine } = options;
  /** The mode that was asked for last. The run accepts it a little later, and the key may be pressed again before. */
  let wanted: PermissionMode | undefined;

  /** @param line said if the terms are accepted. A run at work has an event that says it. @returns whether they are */
  function accept(changed: Partial<RunTerms>, line?: string): boolean {
    try {
      change(changed);
      if (line !== undefined) say(line);
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }

  /** Takes back an effort that was chosen for another model, because each message to one that does not take it would fail. */
  function fitEffort(): void {
    const { model, effort } = terms();
    if (effort === undefined || effortsOf(model).includes(effort)) return;
    setEffort(undefined, `${printableLine(model)} does not support the effort ${effort}; the default is used again`);
    const { effort: own } = terms();
    if (slot.run === undefined && own !== undefined && !effortsOf(model).includes(own))
      warn(`this session was started with the effort ${own}, which ${printableLine(model)} does not support: choose another model`);
  }

  function setEffort(level: EffortLevel | undefined, line: string): void {
    const hasRun = slot.withRun((run) => void run.setEffort(level ?? null).then(() => accept({ effort: level }), failed));
    if (!hasRun) accept({ effort: level }, line);
  }

  function setMode(mode: PermissionMode, isReported: boolean): void {
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
    if (!hasRun) settled(() => accept({ mode }, isReported ? `mode: ${mode} (${MODE_WORDS[mode]})` : undefined));
  }

  return {
    model(name) {
      const accepted = (): void => {
        if (accept({ model: name }, `model: ${printableLine(name)}${slot.run === undefined ? "" : " from the next turn"}`)) fitEffort();
      };
      if (!slot.withRun((run) => void run.setModel(name).then(accepted, failed))) accepted();
    },
    mode: (mode) => setMode(mode, true),
    effort: (level) => setEffort(level, `effort: ${level ?? "default"}`),
    cycleMode: () => setMode(nextMode(wanted ?? terms().mode), !hasStatusLine),
  };
}
