import type { StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";
import { defineMemory, type Memory } from "./define-memory.ts";
import type { RecallStrategy } from "./recall-strategy.ts";

export interface ProjectNotesOptions {
  readonly store: StateStore;
  /** Which project's: shared by all who work on it. */
  readonly project: string;
  /** Default `recallRelevant()`: what fits what was said, then the newest. */
  readonly strategy?: RecallStrategy | undefined;
}

/** Notes of a project: how it is built, what was decided, what went wrong. Written by the model: `remember_note`, `correct_note`, `forget_note`. */
export function projectNotes(options: ProjectNotesOptions): Memory {
  checkOptionNames("projectNotes", options, { store: true, project: true, strategy: true });
  const { store, project, strategy } = options;
  const scope = { type: "custom", namespace: "project", id: project } as const;
  return defineMemory({ name: "note", about: "notes of the project", store, scope, strategy, contentKind: "procedural" });
}
