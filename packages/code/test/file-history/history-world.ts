import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileHistory, type ToolHistory } from "../../src/history/index.ts";
import { shell } from "./actions.ts";

/** A project with a repository, and a folder of Keelson for its history. */
export interface HistoryWorld extends Disposable {
  readonly home: string;
  readonly cwd: string;
  /** Opens the history as a new process does. */
  open(): ToolHistory;
  readonly problems: string[];
}

let template: string | undefined;

export function createHistoryWorld(): HistoryWorld {
  template ??= makeTemplate();
  const base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-history-")));
  const [home, cwd] = [join(base, "home"), join(base, "project")];
  mkdirSync(home);
  // Links lead here: a test that wrote through one must not reach the machine.
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "outside", "hosts"), "outside\n");
  cpSync(template, cwd, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const problems: string[] = [];
  return {
    home,
    cwd,
    problems,
    open: () => createFileHistory({ home, cwd, durability: "process", onProblem: (message) => void problems.push(message) }),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

function makeTemplate(): string {
  const folder = mkdtempSync(join(tmpdir(), "keelson-template-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  shell(
    folder,
    `git init -q -b main . && mkdir -p src/deep docs empty 'with space' ignored && printf 'alpha\\n' > a.txt && echo b > b.txt &&
    echo 'export {};' > src/c.ts && echo d > src/deep/d.ts && echo f > docs/f.md && echo u > 'größe ü.txt' && echo g > 'with space/g h.txt' &&
    printf 'build/\\n*.log\\nignored\\n.env\\n' > .gitignore && echo TOKEN=1 > .env && echo l > notes.log && echo s > ignored/small.bin &&
    ln -s a.txt link && chmod 755 b.txt && git add -A && git commit -qm one && echo more >> b.txt && git commit -qam two &&
    git branch side HEAD~1 && echo dirty >> a.txt && echo staged > staged.txt && git add staged.txt && echo untracked > untracked.txt`,
  );
  return folder;
}
