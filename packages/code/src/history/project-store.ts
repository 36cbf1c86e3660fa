import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { PathNames, SECRET_PATHS, SECRET_SAMPLES } from "keelson/environment";
import type { Durability } from "@keelson/protocol";
import type { FileState } from "./file-state.ts";
import { GitObjects } from "./git-objects.ts";
import { findWorktree } from "./git-places.ts";
import type { HistoryLimits } from "./history-limits.ts";
import { HistoryError } from "./history-error.ts";
import { ImageStore } from "./image-store.ts";
import { Journal } from "./journal.ts";
import { OpenSteps } from "./open-steps.ts";
import { TreeScanner } from "./scan-tree.ts";
import { takeProjectLock } from "./project-lock.ts";
import { isWithin, keptPath, textPath } from "./system-path.ts";
import type { SnapshotParts } from "./take-snapshot.ts";
import { readTreeIndex, type TreeIndex, writeTreeIndex } from "./tree-index.ts";

export interface ProjectStoreOptions {
  /** The folder of Keelson. */
  readonly home: string;
  /** The folder that {@link historyRoot} returns. */
  readonly root: string;
  /** Folders beside the root in which the agent may work. */
  readonly folders?: readonly string[];
  readonly limits: HistoryLimits;
  /** `power`: what is kept is on the disk when a step begins and ends. `process`: it survives this process alone. Default `power`. */
  readonly durability?: Durability;
  /** Unix ms. */
  readonly now: () => number;
}

const FOLDER = "file-history";
const LOCK_PAUSE_MS = 20;
const LOCK_WAIT_MS = 60_000;

/** Returns the folder that a history covers for work in `cwd`: the top of its repository, else the folder itself. As of `systemPath`. */
export function historyRoot(cwd: string): string {
  const folder = keptPath(realpathSync(cwd));
  return findWorktree(folder) ?? folder;
}

/** Returns the folders of the histories of all projects. */
export function projectFolders(home: string): readonly string[] {
  const folder = join(home, FOLDER);
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder).map((name) => join(folder, name));
}

/** True if a process has left steps open in a project, or works on some. */
export function hasOpenSteps(home: string, root: string): boolean {
  const folder = join(home, FOLDER, hashed(root), "open");
  return statSync(folder, { throwIfNoEntry: false }) !== undefined && readdirSync(folder).length > 0;
}

/** Returns the journal of a session in the folder of a project. */
export function journalPath(folder: string, session: string): string {
  return join(folder, "sessions", `${hashed(session)}.journal`);
}

/** All that is kept of one project, in a folder that its owner alone can read. It is made when it is first used. */
export class ProjectStore {
  readonly root: string;
  readonly folder: string;
  readonly parts: SnapshotParts;
  readonly open: OpenSteps;
  readonly images: ImageStore;
  readonly secretImages: ImageStore;
  readonly objects: GitObjects;
  readonly limits: HistoryLimits;
  /** The tops of all folders that are covered. */
  readonly tops: readonly string[];
  readonly #isSynced: boolean;
  readonly #journals = new Map<string, Journal>();
  #index: { readonly value: TreeIndex | undefined; readonly stamp: string } | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ home, root, folders = [], limits, durability = "power", now }: ProjectStoreOptions) {
    this.root = root;
    this.tops = [root, ...folders.filter((folder) => !isWithin(folder, root))];
    this.#isSynced = durability === "power";
    this.limits = limits;
    this.folder = join(home, FOLDER, hashed(root));
    mkdirSync(join(this.folder, "sessions"), { recursive: true, mode: 0o700 });
    this.open = new OpenSteps(join(this.folder, "open"));
    this.images = new ImageStore(join(this.folder, "images"));
    this.secretImages = new ImageStore(join(this.folder, "secret-images"));
    this.objects = new GitObjects(join(this.folder, "objects"), { copyBytes: limits.objectBytes, now });
    const names = new PathNames(SECRET_PATHS, SECRET_SAMPLES);
    const excluded = [keptPath(realpathSync(home))];
    this.parts = {
      excluded,
      root,
      tops: this.tops,
      scanner: new TreeScanner({ roots: this.tops, limits, excluded, now }),
      images: this.images,
      secretImages: this.secretImages,
      objects: this.objects,
      limits,
      isSecret: (path) => names.has(textPath(isWithin(path, root) ? path.slice(root.length + 1) : path)),
      now,
    };
  }

  /** Runs one act after another, in this process and in all others. */
  async locked<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    await before;
    try {
      using _lock = await this.#lock();
      return await act();
    } finally {
      resolve();
    }
  }

  journal(session: string): Journal {
    let journal = this.#journals.get(session);
    if (journal === undefined)
      this.#journals.set(session, (journal = new Journal(journalPath(this.folder, session), { isSynced: this.#isSynced })));
    return journal;
  }

  /** Returns the index of the last snapshot, also of another process. */
  index(): TreeIndex | undefined {
    const stamp = this.#indexStamp();
    if (this.#index?.stamp !== stamp) this.#index = { value: readTreeIndex(this.#indexFile(), this.root), stamp };
    return this.#index.value;
  }

  keepIndex(index: TreeIndex, isChanged: boolean): void {
    if (isChanged) writeTreeIndex(this.#indexFile(), this.root, index);
    this.#index = { value: index, stamp: this.#indexStamp() };
  }

  storeOf(state: FileState & { readonly type: "file" }): ImageStore {
    return state.secret === true ? this.secretImages : this.images;
  }

  /** Returns the bytes of the content of a state; `undefined` if they are not kept. */
  bytesOf(state: FileState | undefined): Buffer | undefined {
    return state?.type === "file" ? this.storeOf(state).read(state.digest) : undefined;
  }

  /** Has the content of states written to the disk. */
  sync(states: Iterable<FileState | undefined>): void {
    for (const state of this.#isSynced ? states : []) {
      if (state?.type !== "file") continue;
      try {
        this.storeOf(state).sync(state.digest);
      } catch (error) {
        // A missing image shows when it is needed.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }

  async #lock(): Promise<Disposable> {
    const path = join(this.folder, "lock");
    for (let waited = 0; waited <= LOCK_WAIT_MS; waited += LOCK_PAUSE_MS) {
      const lock = takeProjectLock(path);
      if (lock !== undefined) return lock;
      await setTimeout(LOCK_PAUSE_MS);
    }
    const holder = readFileSync(path, "utf8").trim();
    throw new HistoryError(
      `The file history of ${textPath(this.root)} is in use by another process (${holder}). If that is wrong, delete ${path}.`,
    );
  }

  #indexFile(): string {
    return join(this.folder, "index.json");
  }

  #indexStamp(): string {
    const stats = statSync(this.#indexFile(), { throwIfNoEntry: false });
    return stats === undefined ? "" : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
  }
}

function hashed(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
