// What an overlay of a large tree costs: to create, for a first command, and per file that is changed, by files and by a command.
//   node --conditions=source bench/overlay-tree.ts [files in the tree] [files to change]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createOverlay } from "../packages/runtime/src/environment/index.ts";

const REPETITIONS = 5;
const [total = 100_000, changed = 500] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(homedir(), ".keelson-bench-"));
const base = join(folder, "base");
const pathOf = (file: number): string => `d${file % 100}/e${Math.floor(file / 100) % 100}/f${file}.txt`;
const text = "The quick brown fox jumps over the lazy dog.\n".repeat(20);

/** Milliseconds, the middle one of several. */
async function measure(name: string, run: () => Promise<() => Promise<void>>, per = 1): Promise<void> {
  const times: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const start = performance.now();
    const undo = await run();
    times.push((performance.now() - start) / per);
    await undo();
  }
  times.sort((one, other) => one - other);
  const [least, middle, most] = [times[0], times[REPETITIONS >> 1], times.at(-1)].map((time) => (time ?? 0).toFixed(2));
  console.log(`${name}: ${middle} ms (${least} to ${most})`);
}

try {
  for (let file = 0; file < total; file++) {
    if (file < 10_000) mkdirSync(join(base, `d${file % 100}/e${Math.floor(file / 100) % 100}`), { recursive: true });
    writeFileSync(join(base, pathOf(file)), text);
  }
  console.log(`${total} files, of which ${changed} are changed; ${REPETITIONS} repetitions`);
  for (const shell of ["overlayfs", "none", "copy"] as const) {
    const open = () => createOverlay({ base, store: join(folder, "store"), shell });
    await measure(`${shell}: create`, async () => {
      const overlay = await open();
      return () => overlay.close();
    });
    const overlay = await open();
    const rollback = () => overlay.rollback();
    await measure(
      `${shell}: change by files, per file`,
      async () => {
        for (let file = 0; file < changed; file++) await overlay.files.write(pathOf(file * 7), "changed\n");
        return rollback;
      },
      changed,
    );
    if (shell !== "none") {
      const executor = overlay.executor({});
      await measure(`${shell}: a command that changes nothing`, async () => {
        await executor.execute({ command: "true" });
        return async () => {};
      });
      const command = Array.from({ length: changed }, (_, file) => `echo changed > ${pathOf(file * 7)}`).join("\n");
      await measure(
        `${shell}: change by a command, per file`,
        async () => {
          await executor.execute({ command });
          return rollback;
        },
        changed,
      );
    }
    await measure(
      `${shell}: change, diff and commit, per file`,
      async () => {
        for (let file = 0; file < changed; file++) await overlay.files.write(pathOf(file * 7), `changed ${Math.random()}\n`);
        await overlay.diff();
        await overlay.commit();
        return async () => {};
      },
      changed,
    );
    await overlay.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
