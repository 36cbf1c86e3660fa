import type { AgentEvent, EffortLevel, PermissionMode } from "@keelson/protocol";
import type { Run } from "keelson";
import { printableLine } from "../text/printable.ts";

/** The settings that a person chose for the runs of a conversation. Absent: as the session was started. */
export interface RunSettings {
  readonly permissionMode?: PermissionMode;
  readonly effort?: EffortLevel;
}

/** The model, the permission mode and the effort of the runs of a conversation. Changes of them say so themselves. */
export interface ConversationSettings {
  readonly model: string;
  /** The mode of the run that is under way, or of the next one. */
  readonly permissionMode: PermissionMode;
  /** Returns what the next run is started with. */
  ofNextRun(): RunSettings;
  changeModel(name: string): void;
  changeMode(mode: PermissionMode): void;
  /** `null`: as the session was started. */
  changeEffort(effort: EffortLevel | null): void;
  /** Sets the mode of a run and of those that follow. The run says so when it has read it. */
  setMode(run: Run<unknown> | undefined, mode: PermissionMode): Promise<void>;
  /** Reads an event of a run, whose mode may have been set elsewhere. */
  see(event: AgentEvent): void;
}

export interface ConversationSettingsOptions {
  readonly model: string;
  readonly permissionMode: PermissionMode;
  /** Acts on the run that is under way or is being started. @returns true if there is one */
  withRun(act: (run: Run<unknown>) => void): boolean;
  isAtWork(): boolean;
  say(line: string): void;
  failed(error: unknown): void;
}

export function createConversationSettings({
  model: firstModel,
  permissionMode,
  withRun,
  isAtWork,
  say,
  failed,
}: ConversationSettingsOptions): ConversationSettings {
  let model = firstModel;
  let mode = permissionMode;
  let settings: RunSettings = {};

  function noteMode(held: PermissionMode): void {
    mode = held;
    settings = { ...settings, permissionMode: held };
  }

  /** Changes the run, if there is one, and then what later runs start with. */
  function change(act: (run: Run<unknown>) => Promise<void>, accepted: () => void): void {
    if (!withRun((run) => void act(run).then(accepted, failed))) accepted();
  }

  const from = (moment: string): string => (isAtWork() ? ` from the next ${moment}` : "");

  return {
    get model() {
      return model;
    },
    get permissionMode() {
      return mode;
    },
    ofNextRun: () => settings,
    changeModel(name) {
      change(
        (run) => run.setModel(name),
        () => {
          model = name;
          say(`model: ${printableLine(name)}${from("turn")}`);
        },
      );
    },
    changeMode(wanted) {
      change(
        (run) => run.setPermissionMode(wanted),
        () => {
          noteMode(wanted);
          say(`permission mode: ${wanted}${from("response")}`);
        },
      );
    },
    changeEffort(wanted) {
      change(
        (run) => run.setEffort(wanted),
        () => {
          const { effort: _before, ...others } = settings;
          settings = wanted === null ? others : { ...others, effort: wanted };
          say(`effort: ${wanted ?? "as the session was started"}${from("turn")}`);
        },
      );
    },
    async setMode(run, wanted) {
      await run?.setPermissionMode(wanted);
      noteMode(wanted);
    },
    see(event) {
      if (event.type === "permission-mode-switch" && (event.path ?? []).length === 0) noteMode(event.to);
    },
  };
}
