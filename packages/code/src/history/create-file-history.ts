import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { DestroyedFiles, Durability } from "@keelson/protocol";
import type { ChangingCall } from "../workspace/file-changes.ts";
import type { AroundOptions, AroundResult, FileHistory } from "../workspace/file-history.ts";
import { shownIn } from "./compare-trees.ts";
import { type DestroyedPattern, destroyedPattern } from "./destroyed-pattern.ts";
import { statOf } from "./find-uncovered.ts";
import { limitsFrom } from "./history-limits.ts";
import type { HistoryNote } from "./history-note.ts";
import { lossesOf, UNKNOWN_LOSS } from "./losses-of.ts";
import { noteLosses, type StampedLosses, stampLosses } from "./note-losses.ts";
import { type BegunStep, type PlannedFile, ProjectHistory, rootSession, type StepCall } from "./project-history.ts";
import { hasOpenSteps, historyRoot, ProjectStore } from "./project-store.ts";
import { realTarget } from "./real-target.ts";
import { isWithin, keptPath, textPath } from "./system-path.ts";

export interface FileHistoryOptions {
  /** The folder of Keelson. */
  readonly home: string;
  /** The folder of the project. */
  readonly cwd: string;
  /** Other folders in which the agent may work. */
  readonly folders?: readonly string[];
  /** `power`: what is kept is on the disk when a step begins and ends. `process`: it survives this process alone. Default `power`. */
  readonly durability?: Durability;
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Unix ms. */
  readonly now?: () => number;
  /** Receives each reason why changes cannot be kept, once. */
  readonly onProblem?: (message: string) => void;
}

/** The history of a project as the tools of a run use it. */
export interface ToolHistory extends FileHistory {
  /** Makes a change of files that a tool names. */
  edit<T>(files: readonly EditedFile[], call: ChangingCall, title: string, change: () => Promise<T>): Promise<T>;
  /** Begins a new group of steps: the person has sent a message. */
  mark(session: string): void;
  /** Closes what killed processes left open. Does nothing in a project without a history. */
  recover(): Promise<void>;
  /** Returns the history of the project, which is opened when it is first used. */
  project(): ProjectHistory;
}

/** A file that a tool is about to change. */
export interface EditedFile {
  readonly path: string;
  /** The bytes that will be there; `null` for none. Absent: they are not known. */
  readonly content?: Uint8Array | null;
}

/** Opens the file history of a project for a run. No file is touched before the first change. */
export function createFileHistory(options: FileHistoryOptions): ToolHistory {
  const { home, cwd, folders = [], durability = "power", environment = {}, now = Date.now, onProblem = () => {} } = options;
  let opened: ProjectHistory | undefined;
  const told = new Map<string, Set<string>>();
  const marked = new Set<string>();
  const problems = new Set<string>();
  /** Notes of commands that were interrupted or failed, by session. The next command gives them. */
  const delayed = new Map<string, readonly HistoryNote[]>();

  function project(): ProjectHistory {
    opened ??= new ProjectHistory(
      new ProjectStore({
        ...{ home, root: historyRoot(cwd), limits: limitsFrom(environment), durability, now },
        folders: folders.filter((folder) => existsSync(folder)).map((folder) => keptPath(realpathSync(folder))),
      }),
    );
    for (const session of marked) opened.mark(session);
    marked.clear();
    return opened;
  }
  function report(error: unknown): string {
    const message = `Changes of files are not kept for undo: ${error instanceof Error ? error.message : String(error)}`;
    if (!problems.has(message)) onProblem(message);
    problems.add(message);
    return message;
  }
  /** Takes the notes whose lines this session was not given yet. */
  function untold(session: string, all: HistoryNote[]): readonly string[] {
    const keys = new Set<string>();
    const notes = all.splice(0).filter(({ key }) => keys.size !== keys.add(key).size);
    const known = told.get(rootSession(session)) ?? new Set();
    told.set(rootSession(session), known);
    return notes.filter(({ key, isEvent }) => isEvent === true || known.size !== known.add(key).size).map(({ text }) => text);
  }
  const stepCall = ({ callId, runId, session }: ChangingCall, title: string): StepCall => ({ callId, runId, session, title });
  /** A name that is a link may be followed or not: both are kept. */
  const planned = ({ path, content }: EditedFile): readonly PlannedFile[] => {
    const at = resolve(cwd, path);
    const own = join(realTarget(dirname(at)), basename(at));
    const target = realTarget(own);
    const digest = content === undefined || content === null ? content : createHash("sha256").update(content).digest("hex");
    const file = { path: keptPath(target), ...(digest !== undefined && { digest }) };
    return target === own ? [file] : [{ path: keptPath(own) }, file];
  };

  function delay(session: string, notes: readonly HistoryNote[]): void {
    const own = rootSession(session);
    delayed.set(own, [...(delayed.get(own) ?? []), ...notes]);
  }
  function takeDelayed(session: string): readonly HistoryNote[] {
    const found = delayed.get(rootSession(session)) ?? [];
    delayed.delete(rootSession(session));
    return found;
  }
  const patternsOf = (destroyed: readonly DestroyedFiles[]): readonly DestroyedPattern[] =>
    destroyed.flatMap((files) => destroyedPattern(files, cwd) ?? []);

  async function close<T>(step: BegunStep, notes: HistoryNote[]): Promise<AroundResult<T>["changed"]> {
    const found = await project().end(step);
    notes.push(...found.notes);
    return found.changes.map(({ path }) => shownIn(project().store.root, path)).toSorted();
  }

  return {
    project,
    async recover() {
      if (hasOpenSteps(home, historyRoot(cwd))) await project().recover();
    },
    mark(session) {
      if (opened === undefined) marked.add(session);
      else opened.mark(session);
    },

    async keep(paths, call) {
      if (call.environment !== undefined) return;
      try {
        await project().keep(
          paths.flatMap((path) => planned({ path })),
          stepCall(call, "a tool"),
        );
      } catch (error) {
        report(error);
      }
    },

    async losses(destroyed, { ownFolders = [] } = {}) {
      const patterns = patternsOf(destroyed);
      const unknown = patterns.length < destroyed.length ? [UNKNOWN_LOSS] : [];
      const existing = patterns.filter(({ path, isTree }) => statOf(path)?.isDirectory() === isTree);
      if (existing.length === 0) return unknown;
      try {
        const { tops } = project().store;
        const isOwn = (path: string): boolean =>
          ownFolders.some((folder) => isWithin(path, folder)) && !tops.some((top) => isWithin(path, top));
        const real = existing.filter(({ path }) => !isOwn(path));
        return [...unknown, ...lossesOf(await project().uncovered(real), project().store.root)];
      } catch (error) {
        const text = report(error);
        return [...unknown, ...existing.map(({ path }) => ({ path: textPath(path), description: `${textPath(path)}: ${text}` }))];
      }
    },

    async edit(files, call, title, change) {
      if (call.environment !== undefined) return change();
      let isRunning = false;
      const run = (): ReturnType<typeof change> => {
        isRunning = true;
        return change();
      };
      try {
        return await project().edit(files.flatMap(planned), stepCall(call, title), run, report);
      } catch (error) {
        if (isRunning) throw error;
        report(error);
        return change();
      }
    },

    async around<T>(
      call: ChangingCall,
      run: () => Promise<T>,
      { title = "a command", ended, destroys = [], onEnd = () => {} }: AroundOptions<T> = {},
    ): Promise<AroundResult<T>> {
      const { session, environment: held } = call;
      if (held !== undefined) {
        const text = "The environment of this run has files of its own: what commands change there cannot be undone.";
        const result = await run();
        onEnd([]);
        return { result, notes: untold(session, [{ key: "environment", text }]), changed: [] };
      }
      const notes: HistoryNote[] = [];
      let step: BegunStep | undefined;
      let losses: StampedLosses = [];
      try {
        const begun = await project().begin(ended === undefined ? "command" : "job", stepCall(call, title));
        step = begun.step;
        // The snapshot after an interrupted command comes before this one.
        notes.push(...takeDelayed(session), ...begun.notes);
        if (destroys.length > 0) losses = stampLosses(project().uncoveredNow(patternsOf(destroys)));
      } catch (error) {
        const text = report(error);
        notes.push({ key: text, text });
      }
      const finish = async (): Promise<readonly string[]> => {
        if (step === undefined) return [];
        try {
          const changed = await close(step, notes);
          notes.push(...noteLosses(project().store.root, losses));
          return changed;
        } catch (error) {
          const text = report(error);
          notes.push({ key: text, text });
          return [];
        }
      };
      let result: T;
      try {
        result = await run();
      } catch (error) {
        const finished = finish().then(() => delay(session, notes));
        if (!call.signal.aborted) await finished;
        throw error;
      }
      if (ended === undefined && call.signal.aborted) {
        // The person waits for the prompt. What uses the history next waits for this snapshot.
        const told = untold(session, notes);
        void finish().then(() => delay(session, notes));
        return { result, notes: told, changed: [] };
      }
      if (ended === undefined) {
        const changed = await finish();
        return { result, notes: untold(session, notes), changed };
      }
      // The job itself reports a failure of the command.
      void ended(result)
        .catch(() => {})
        .then(finish)
        .then(() => onEnd(untold(session, notes)));
      return { result, notes: untold(session, notes), changed: [] };
    },
  };
}
