import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { act, actAsPerson, type AgentAction } from "./actions.ts";
import { agentActions, ownActions } from "./arbitrary-actions.ts";
import { createHistoryWorld, type HistoryWorld } from "./history-world.ts";
import { differences, readTree, type Tree } from "./read-tree.ts";

const RUNS = sampleSize("sequences of changes that are undone", { test: 10, ci: 300, soak: 10_000 });
const MIXED_RUNS = sampleSize("sequences of changes of an agent and a person", { test: 10, ci: 300, soak: 3000 });

describe("the file history", () => {
  it(
    "brings a project back byte for byte after any sequence of edits and commands, in a new process, and forth again [TC-04]",
    { timeout: 0 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(agentActions, { minLength: 1, maxLength: 7 }), fc.nat(), async (actions, pick) => {
          using world = createHistoryWorld();
          const first = readTree(world.cwd);
          const trees: Tree[] = [first];
          const history = world.open();
          for (const action of actions) {
            await act(history, world.cwd, action);
            const tree = readTree(world.cwd);
            // A call that changes nothing is no step, and neither is one that writes the index of git again with the same content.
            if (await hasSteps(world, trees.length)) trees.push(tree);
            else trees[trees.length - 1] = tree;
          }
          const steps = trees.length - 1;
          const count = steps === 0 ? 0 : 1 + (pick % steps);
          if (count === 0) return;
          const undone = await world.open().project().undo("s", { calls: count });
          expect([undone.left, differences(trees[steps - count] as Tree, readTree(world.cwd))]).toEqual([[], []]);
          const redone = await world.open().project().redo("s");
          if (!actions.some(losesObjects)) expect([redone.left, differences(trees[steps] as Tree, readTree(world.cwd))]).toEqual([[], []]);
          await world.open().project().undo("s", { since: 0 });
          expect([differences(first, readTree(world.cwd)), world.problems]).toEqual([[], []]);
        }),
        { numRuns: RUNS, seed, endOnFailure: true },
      );
    },
  );

  it("never overwrites or deletes what a person changed after the agent, and brings the rest back [TC-04]", { timeout: 0 }, async () => {
    const mixed = fc.array(fc.oneof({ arbitrary: agentActions, weight: 3 }, { arbitrary: ownActions, weight: 2 }), {
      minLength: 2,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(mixed, async (actions) => {
        using world = createHistoryWorld();
        const history = world.open();
        let before = readTree(world.cwd);
        const first = before;
        const lastBy = new Map<string, "agent" | "own">();
        const touched = new Set<string>();
        for (const action of actions) {
          if (action.type === "own") actAsPerson(world.cwd, action);
          else await act(history, world.cwd, action);
          const after = readTree(world.cwd);
          for (const path of changedPaths(before, after)) {
            lastBy.set(path, action.type === "own" ? "own" : "agent");
            if (action.type === "own") touched.add(path);
          }
          before = after;
        }
        await world.open().project().undo("s", { since: 0 });
        const after = readTree(world.cwd);
        for (const [path, by] of lastBy) {
          if (by === "own" && before.get(path)?.startsWith("file") === true)
            expect([path, after.get(path)]).toEqual([path, before.get(path)]);
        }
        const isApart = (path: string): boolean =>
          ![...touched].some((own) => own.startsWith(`${path}/`) || path.startsWith(`${own}/`) || own === path);
        for (const [path, state] of first) {
          if (state.startsWith("file") && isApart(path) && !path.startsWith(".git/"))
            expect([path, after.get(path)]).toEqual([path, state]);
        }
      }),
      { numRuns: MIXED_RUNS, seed, endOnFailure: true },
    );
  });
});

/** True if at least so many calls can be undone one by one. */
async function hasSteps(world: HistoryWorld, count: number): Promise<boolean> {
  const project = world.open().project();
  const last = await project.changes("s", { calls: count });
  const fewer = count === 1 ? 0 : (await project.changes("s", { calls: count - 1 })).steps.length;
  return last.steps.length > fewer;
}

/** Redoing a collection of garbage leaves the objects that were brought back, and so does the deletion of a repository behind it. */
function losesObjects(action: AgentAction): boolean {
  return action.type === "shell" && /gc |rm -rf \.git|\.\/\*/.test(action.line);
}

function* changedPaths(a: Tree, b: Tree): Generator<string> {
  for (const path of new Set([...a.keys(), ...b.keys()])) if (a.get(path) !== b.get(path)) yield path;
}
