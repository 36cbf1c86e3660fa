import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOverlay } from "keelson/environment";
import { createSqliteEventLog } from "keelson/state";
import { expect, it } from "vitest";
import { describeWithBubblewrap } from "../sandbox/with-bubblewrap.ts";
import { overlayRunner, running, writing } from "./overlay-agent.ts";
import { makeTree, testFolder, treeAt } from "./plain-tree.ts";

const START = { "lines.txt": "1\n2\n3\n4\n5\n", "old/a.txt": "a\n", "old/b.txt": "b\n", "m.txt": "m\n", "kept.txt": "kept\n" };

describeWithBubblewrap("agents with an overlay each over one folder", () => {
  it("leave the tree as expected: one was aborted, one was killed and goes on in a new process, and commands wrote, too", async () => {
    const world = testFolder();
    const base = makeTree(join(world, "base"), START);
    const [store, logs] = [join(world, "store"), { killed: join(world, "killed.db"), others: join(world, "others.db") }];
    const before = treeAt(base);

    const child = spawn(process.execPath, ["--conditions=source", join(import.meta.dirname, "killed-agent.ts"), base, store, logs.killed], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const isWaiting = once(child.stdout, "data");

    // Meanwhile, in this process: one that ends, and one that is aborted while a command of its runs.
    await using log = createSqliteEventLog(logs.others);
    const ending = await createOverlay({ base, store, id: "ending" });
    const aborted = await createOverlay({ base, store, id: "aborted" });
    const turns = [writing("lines.txt", "ONE\n2\n3\n4\n5\n"), running("echo ending > ending.txt; rm kept.txt"), { text: "done" }];
    const ended = overlayRunner(ending, log, turns).run("go", { session: "ending" });
    const run = overlayRunner(aborted, log, [
      writing("lines.txt", "aborted\n"),
      running("rm -r old; echo x > aborted.txt; sleep 600"),
      { text: "never said" },
    ]).run("go", { session: "aborted" });
    while ((await aborted.files.glob("aborted.txt")).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await run.abort();
    expect((await run.outcome).reason).toBe("aborted");
    expect((await ended.outcome).reason).toBe("complete");

    await isWaiting;
    expect(treeAt(base)).toEqual(before);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(treeAt(base)).toEqual(before);

    await aborted.rollback();
    await aborted.close();
    expect(await ending.commit()).toEqual({ status: "committed", changed: ["ending.txt", "kept.txt", "lines.txt"], merged: [] });
    await ending.close();

    // What the killed agent had done is there, and what was committed meanwhile is merged with it.
    await using killedLog = createSqliteEventLog(logs.killed);
    const killed = await createOverlay({ base, store, id: "killed" });
    expect((await killed.diff()).map(({ path, change }) => `${change} ${path}`)).toEqual([
      "added half.txt",
      "changed lines.txt",
      "deleted m.txt",
      "added made.txt",
      "added moved.txt",
      "deleted old/a.txt",
      "deleted old/b.txt",
      "added old/new.txt",
    ]);
    const resumed = await overlayRunner(killed, killedLog, [
      running("cat made.txt old/*; rm half.txt; echo resumed >> made.txt"),
      { text: "resumed" },
    ]).resume("killed");
    expect(await resumed.outcome).toMatchObject({ reason: "complete", text: "resumed" });
    expect(await killed.commit()).toMatchObject({ status: "committed", merged: ["lines.txt"] });
    await killed.close();

    const expected = makeTree(join(world, "expected"), {
      "lines.txt": "ONE\n2\n3\n4\nFIVE\n",
      "ending.txt": "ending\n",
      "made.txt": "killed\nresumed\n",
      "moved.txt": "m\n",
      "old/new.txt": "new\n",
    });
    expect(treeAt(base)).toEqual(treeAt(expected));
    expect(readdirSync(store)).toEqual([]);
  });

  it("are told of a file that somebody changed after the process was killed whose command wrote it", async () => {
    const world = testFolder();
    const base = makeTree(join(world, "base"), START);
    const store = join(world, "store");
    const program = join(import.meta.dirname, "killed-agent.ts");
    const child = spawn(process.execPath, ["--conditions=source", program, base, store, join(world, "log.db")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    writeFileSync(join(base, "half.txt"), "theirs\n");
    const overlay = await createOverlay({ base, store, id: "killed" });
    await overlay.files.rm("half.txt");
    expect(await overlay.commit()).toMatchObject({ status: "conflicts", conflicts: [{ path: "half.txt" }] });
    await overlay.rollback();
    await overlay.close();
  });

  it("are told of a file that somebody changed while commands of theirs wrote it: nothing is lost", async () => {
    const world = testFolder();
    const base = makeTree(join(world, "base"), START);
    const overlay = await createOverlay({ base, store: join(world, "store") });
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const command = overlay.executor({}).execute({
      command: "cat lines.txt; until [ -e go ]; do sleep 0.01; done; echo ours >> lines.txt",
      onOutput: () => resolve(),
    });
    await started;
    writeFileSync(join(base, "lines.txt"), "theirs\n");
    await overlay.files.write("go", "");
    await command;
    expect(await overlay.commit()).toMatchObject({ status: "conflicts", conflicts: [{ path: "lines.txt" }] });
    await overlay.rollback();
    await overlay.close();
  });

  it("see what was committed by others before their next command, and remove no file that came to a folder they made anew", async () => {
    const world = testFolder();
    const base = makeTree(join(world, "base"), START);
    const overlay = await createOverlay({ base, store: join(world, "store") });
    const executor = overlay.executor({});
    await executor.execute({ command: "cat kept.txt; rm -r old; mkdir old; echo new > old/new.txt" });
    writeFileSync(join(base, "kept.txt"), "theirs\n");
    writeFileSync(join(base, "old/theirs.txt"), "theirs\n");
    expect(await executor.execute({ command: "cat kept.txt; ls old; echo ours >> kept.txt" })).toMatchObject({
      stdout: "theirs\nnew.txt\n",
    });
    expect(await overlay.commit()).toMatchObject({ status: "committed" });
    expect(Object.keys(treeAt(base)).filter((path) => path.startsWith("old/"))).toEqual(["old/new.txt", "old/theirs.txt"]);
    expect(treeAt(base)["kept.txt"]).toMatch(/theirs\nours\n$/);
    await overlay.close();
  });
});
