import fc from "fast-check";
import type { AgentAction, OwnAction } from "./actions.ts";

const PATHS = [
  ...["a.txt", "b.txt", "src/c.ts", "src/deep/d.ts", "src/deep/er/e.ts", "docs/f.md", "größe ü.txt", "with space/g h.txt"],
  ...["notes.log", ".env", "ignored/small.bin", "new/one/two.txt", "-dash.txt", "'quote.txt"],
];
const FOLDERS = ["src", "src/deep", "docs", "with space", "ignored", "new", "new/one", "empty"];
const path = fc.constantFrom(...PATHS);
const folder = fc.constantFrom(...FOLDERS);
const content = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom("", "\r\n", "\ufeffx", "a".repeat(5000)),
  fc.nat(1e6).map((number) => `line ${number}\n`),
);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const q = (text: string): string => quoted(`./${text}`);

const lines: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(path, content).map(([at, text]) => `printf %s ${quoted(text)} > ${q(at)}`),
  fc.tuple(path, content).map(([at, text]) => `mkdir -p "$(dirname ${q(at)})"; printf %s ${quoted(text)} >> ${q(at)}`),
  path.map((at) => `rm -f ${q(at)}`),
  folder.map((at) => `rm -rf ${q(at)}`),
  folder.map((at) => `mkdir -p ${q(at)}/made/empty`),
  fc.tuple(path, path).map(([from, to]) => `mv ${q(from)} ${q(to)}`),
  fc.tuple(folder, folder).map(([from, to]) => `mv ${q(from)} ${q(to)}`),
  fc.tuple(folder, folder).map(([from, to]) => `cp -a ${q(from)} ${q(to)}`),
  fc.tuple(path, path).map(([from, to]) => `ln ${q(from)} ${q(to)}`),
  fc
    .tuple(path, fc.constantFrom("a.txt", "../outside/hosts", "nowhere", "..", "src"))
    .map(([at, target]) => `ln -sfn ${quoted(target)} ${q(at)}`),
  fc.tuple(folder, fc.constantFrom("../outside", "docs")).map(([at, target]) => `rm -rf ${q(at)}; ln -s ${quoted(target)} ${q(at)}`),
  fc.tuple(path, fc.constantFrom("600", "755", "444", "640")).map(([at, mode]) => `chmod ${mode} ${q(at)}`),
  fc.tuple(folder, fc.constantFrom("700", "755")).map(([at, mode]) => `chmod ${mode} ${q(at)}`),
  // A change in place that keeps size and time.
  path.map(
    (at) =>
      `touch -r ${q(at)} /tmp/keelson-ref-$$ && tr a-y b-z < ${q(at)} > /tmp/keelson-new-$$ && cat /tmp/keelson-new-$$ > ${q(at)} && touch -r /tmp/keelson-ref-$$ ${q(at)}; rm -f /tmp/keelson-*-$$`,
  ),
  fc
    .tuple(path, folder)
    .map(([at, other]) => `rm -rf ${q(at)}; mkdir -p ${q(at)}; touch ${q(at)}/inside; rm -rf ${q(other)}; touch ${q(other)}`),
  fc.constantFrom(
    ...["git add -A && git commit -qm more", "git reset -q --hard", "git reset -q --hard HEAD~1", "git clean -qfdx", "git clean -qfd"],
    ...["git checkout -q -b side", "git checkout -q main", "git stash -q -u", "git stash pop -q", "git branch -D side", "git add -A"],
    ...[
      "git commit -q --amend -m changed",
      "git rebase -q side",
      "git merge -q side",
      "git merge --abort",
      "git rebase --abort",
      "git tag t",
    ],
    ...[
      "git gc -q --prune=now",
      "git reflog expire --expire=now --all && git gc -q --prune=now",
      "git pack-refs --all",
      "git rm -rq --cached .",
    ],
    ...["rm -rf ./*", "rm -rf .git", "git checkout -q -- .", "git status", "find . -name '*.t*' -delete", "sed -i s/i/j/ *.txt"],
    ...["echo 'build/\n*.log\nignored\n*.txt' > .gitignore", "echo > .gitignore", "rm -f .gitignore", "git worktree add -q ../tree side"],
  ),
);

export const agentActions: fc.Arbitrary<AgentAction> = fc.oneof(
  { arbitrary: fc.record({ type: fc.constant("shell" as const), line: lines }), weight: 6 },
  { arbitrary: fc.record({ type: fc.constant("write" as const), path, content }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant("delete" as const), path }), weight: 1 },
  { arbitrary: fc.record({ type: fc.constant("move" as const), from: path, to: path }), weight: 1 },
);

let own = 0;

/** Contents of the person are unlike all others. */
export const ownActions: fc.Arbitrary<OwnAction> = fc.oneof(
  path.map((at) => ({ type: "own" as const, path: at, content: `of the person ${++own}` })),
  path.map((at) => ({ type: "own" as const, path: at })),
);
