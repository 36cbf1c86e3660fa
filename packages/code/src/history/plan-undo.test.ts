import { describe, expect, it } from "vitest";
import type { Change, FileState } from "./file-state.ts";
import { foldJournal, type Step } from "./fold-journal.ts";
import type { JournalRecord } from "./journal-record.ts";
import { joinedChanges, planRedo, planUndo, undoableSteps } from "./plan-undo.ts";

const file = (digest: string): FileState => ({ type: "file", mode: 0o644, size: 1, digest });
const change = (path: string, before: string | undefined, after: string | undefined): Change => ({
  path,
  before: before === undefined ? undefined : file(before),
  after: after === undefined ? undefined : file(after),
});

let count = 0;
function begin(more: Partial<Extract<JournalRecord, { type: "begin" }>> = {}): Extract<JournalRecord, { type: "begin" }> {
  return { type: "begin", step: `step-${++count}`, kind: "command", call: "c", run: "r", session: "s", at: count, title: "t", ...more };
}
const end = (step: string, ...changes: readonly Change[]): JournalRecord => ({ type: "end", step, at: 0, changes });
const HEAD: JournalRecord = { type: "session", version: 1, session: "s", root: "/p" };

function steps(...sets: readonly (readonly Change[])[]): readonly Step[] {
  return foldJournal([
    HEAD,
    ...sets.flatMap((changes) => {
      const one = begin();
      return [one, end(one.step, ...changes)];
    }),
  ]).steps;
}

describe("planUndo", () => {
  it("goes from the last state to the first over several steps", () => {
    expect(planUndo(steps([change("/p/a", "1", "2")], [change("/p/a", "2", "3"), change("/p/b", undefined, "x")]))).toEqual([
      { path: "/p/a", from: file("3"), to: file("1"), isCut: false },
      { path: "/p/b", from: file("x"), to: undefined, isCut: false },
    ]);
  });

  it("stops at a change that someone else made between two steps", () => {
    expect(planUndo(steps([change("/p/a", "1", "2")], [change("/p/a", "own", "3")]))).toEqual([
      { path: "/p/a", from: file("3"), to: file("own"), isCut: true },
    ]);
  });

  it("needs no move for a path that came back by itself", () => {
    expect(planUndo(steps([change("/p/a", "1", undefined)], [change("/p/a", undefined, "1")]))).toEqual([]);
  });

  it("follows the changes of a command in the background between those of others", () => {
    const [job, command] = [begin({ kind: "job" }), begin()];
    const state = foldJournal([
      HEAD,
      job,
      { type: "part", step: job.step, changes: [change("/p/a", "1", "2")] },
      command,
      end(command.step, change("/p/a", "2", "3")),
      end(job.step, change("/p/a", "3", "4")),
    ]);
    expect(planUndo(state.steps)).toEqual([{ path: "/p/a", from: file("4"), to: file("1"), isCut: false }]);
    expect(joinedChanges(state.steps)).toEqual([change("/p/a", "1", "4")]);
    expect(planUndo(state.steps.filter(({ kind }) => kind === "command"))).toEqual([
      { path: "/p/a", from: file("3"), to: file("2"), isCut: false },
    ]);
  });
});

describe("planUndo of a path that is back in its former state between two steps", () => {
  it("leads to that state, also if a change was recorded twice", () => {
    const [one, two] = [begin(), begin()];
    const twice = foldJournal([HEAD, one, end(one.step, change("/p/a", "1", "2")), two, end(two.step, change("/p/a", "1", "2"))]);
    expect(planUndo(twice.steps)).toEqual([{ path: "/p/a", from: file("2"), to: file("1"), isCut: false }]);
    const more = foldJournal([HEAD, one, end(one.step, change("/p/a", "1", "2")), two, end(two.step, change("/p/a", "1", "3"))]);
    expect(planUndo(more.steps)).toEqual([{ path: "/p/a", from: file("3"), to: file("1"), isCut: false }]);
    const others = foldJournal([HEAD, one, end(one.step, change("/p/a", "1", "2")), two, end(two.step, change("/p/a", "3", "4"))]);
    expect(planUndo(others.steps)).toMatchObject([{ path: "/p/a", isCut: true }]);
  });
});

describe("planRedo", () => {
  const object: FileState = { type: "object", size: 1, key: "k" };
  const folder: FileState = { type: "folder", mode: 0o755 };

  it("deletes objects of git only with their repository", () => {
    const back = { path: "/p/.git/objects/ab/c", from: undefined, to: object };
    const folderBack = { path: "/p/.git/objects/ab", from: undefined, to: folder };
    expect(planRedo([back, folderBack])).toEqual([]);
    const top = { path: "/p/.git/objects", from: undefined, to: folder };
    expect(planRedo([back, folderBack, top])).toHaveLength(3);
  });
});

describe("foldJournal", () => {
  it("groups steps by messages, those of children with the run that started them", () => {
    const all = [
      begin({ run: "1", isFirst: true }),
      begin({ run: "child", session: "s~1" }),
      begin({ run: "1" }),
      begin({ run: "2" }),
      begin({ run: "child-2", session: "s~2" }),
      begin({ run: "2", isFirst: true }),
    ];
    expect(foldJournal([HEAD, ...all]).steps.map(({ group }) => group)).toEqual([1, 1, 1, 2, 2, 3]);
  });

  it("forgets what could be redone as soon as a file changes", () => {
    const [one, two] = [begin(), begin()];
    const moves = [{ path: "/p/a", from: file("2"), to: file("1") }];
    const undone: readonly JournalRecord[] = [
      HEAD,
      one,
      end(one.step, change("/p/a", "1", "2")),
      { type: "undo", id: "u", at: 0, steps: [one.step], moves, left: [], opened: [] },
      { type: "undone", id: "u", done: moves, left: [] },
    ];
    expect(foldJournal(undone).undos).toEqual([{ id: "u", steps: [one.step], done: moves }]);
    expect(undoableSteps(foldJournal(undone).steps)).toEqual([]);
    expect(foldJournal([...undone, two, end(two.step)]).undos).toHaveLength(1);
    expect(foldJournal([...undone, two, end(two.step, change("/p/b", undefined, "1"))]).undos).toEqual([]);
  });

  it("shows an undo that began and did not end as pending", () => {
    const moves = [{ path: "/p/a", from: undefined, to: file("1") }];
    const begun: readonly JournalRecord[] = [
      HEAD,
      { type: "undo", id: "u", at: 0, steps: [], moves, left: [], opened: [] },
      { type: "rewrite", id: "u", path: "/p/a" },
    ];
    expect(foldJournal(begun).pending).toMatchObject({ id: "u", moves, rewritten: ["/p/a"] });
    expect(foldJournal([...begun, { type: "undone", id: "u", done: moves, left: [] }]).pending).toBeUndefined();
  });
});
