import { describe, expect, it } from "vitest";
import { judgeBy } from "./judge.ts";

const cwd = "/home/somebody/project";

/** What an agent looks at in a project on an ordinary day. */
const READS = String.raw`
ls
ls -la
ls -R src | head -100
ls -lah packages/*/src
ls src/**/*.ts
tree -L 2 -I node_modules
pwd
cat package.json
cat -n src/index.ts
cat src/a.ts src/b.ts
cat package.json | jq .scripts
jq '.dependencies | keys' package.json
jq -r .version package.json
head -50 README.md
head -n 20 src/index.ts
tail -100 logs/test.log
tail -n +200 src/index.ts | head -50
sed -n '10,80p' src/index.ts
sed -n 10,20p src/a.ts; sed -n 40,60p src/b.ts
nl -ba src/index.ts | sed -n '1,40p'
awk 'NR>=10 && NR<=20' src/index.ts
awk -F, '{ print $2 }' data.csv | sort -u
awk '{ sum += $1 } END { print sum }' numbers.txt
wc -l src/*.ts
wc -l $(git ls-files)
git ls-files | wc -l
git ls-files '*.ts' | head
find . -name '*.test.ts'
find . -name '*.ts' -not -path '*/node_modules/*' | head -50
find src -type f | wc -l
find . -maxdepth 2 -type d
find . -newer package.json -name '*.ts'
find . -type f -name '*.md' -exec wc -l {} +
find src -name '*.ts' | xargs wc -l | sort -n | tail
find . -name package.json -not -path '*/node_modules/*' -exec grep -l vitest {} \;
grep -rn "createAgent" src
grep -rn --include='*.ts' 'TODO\|FIXME' .
grep -c '' src/index.ts
grep -l foo src/*.ts
grep -n "export" src/index.ts | head -20
grep -rnE 'import .* from "(node:)?fs"' src | cut -d: -f1 | sort -u
grep -v '^#' .gitignore
rg createAgent
rg -n 'defineTool\(' -g '*.ts'
rg --files | rg test
rg -l foo | xargs rg bar
rg -C 3 'class Foo' src
git status
git status --short
git status -sb
git log --oneline -10
git log -p -1
git log --stat -3
git log --since='2 weeks ago' --pretty=format:'%h %s'
git log --graph --oneline --all | head -30
git diff
git diff --stat
git diff --cached
git diff main...HEAD
git diff HEAD~1 -- src/index.ts
git show
git show HEAD --stat
git show HEAD:src/index.ts
git show abc1234
git blame -L 10,20 src/index.ts
git branch
git branch -a
git branch --show-current
git remote -v
git stash list
git tag -l
git rev-parse HEAD
git rev-parse --show-toplevel
git describe --tags
git merge-base main HEAD
git config --get user.name
git --no-pager log -5
git --no-pager diff | head -200
git status && git diff
git status; git log --oneline -5
cd packages/runtime && ls
cd src && grep -rn foo . | head
echo "$PATH"
echo done
which node
node --version
node -v && npm -v
npm --version
python3 --version
go version
cargo --version
tsc --version
uname -a
date
whoami
env | grep NODE
printenv PATH
ps aux | grep node
ps aux | head
df -h
du -sh node_modules
du -sh * | sort -h
file dist/index.js
stat package.json
test -f tsconfig.json && echo yes || echo no
[ -f package.json ] && cat package.json
diff a.txt b.txt
diff -u old.ts new.ts | head -40
md5sum dist/*.js
sort names.txt | uniq -c | sort -rn
cut -d, -f1 data.csv | sort | uniq
tr -d '\r' < file.txt | head
basename "$(pwd)"
realpath src
readlink -f node_modules/.bin/tsc
for f in src/*.ts; do wc -l "$f"; done
for f in src/*.ts; do echo "== $f"; head -5 "$f"; done
ls node_modules | grep react
ls 2>/dev/null || echo none
cat tsconfig.json 2>/dev/null
cat src/index.ts | grep -n import
xxd image.png | head -3
od -c file.txt | head
npm ls
npm ls --depth=0
pip list
pip show requests
`;

/** What it runs to see whether the project holds. */
const CHECKS = String.raw`
npm test
npm test -- --run src/a.test.ts
npm test 2>&1 | tail -30
npm run test
npm run test:unit
npm run lint
npm run typecheck
npm run build
CI=1 npm test
cd packages/runtime && npm test
npx vitest run
npx vitest run src/a.test.ts 2>&1 | tail -50
npx tsc --noEmit
npx tsc --noEmit | head -20
npx eslint src
npx jest --ci
npx prettier --check .
pnpm test
yarn test
bun test
node --test
pytest
pytest -x tests/test_a.py
python -m pytest -q
python3 -m pytest tests -k foo 2>&1 | tail -20
go test ./...
go vet ./...
go build ./...
cargo test
cargo check
cargo clippy
make test
make lint
timeout 120 npm test
ruff check .
mypy src
`;

const RULES = [
  ..."npm test,npm run test,npm run lint,npm run typecheck,npm run build,npx vitest,vitest,npx tsc,tsc,npx eslint,eslint,npx jest,jest,npx prettier,prettier,pnpm test,yarn test,bun test,node --test,pytest,python -m pytest,python3 -m pytest,go test,go vet,go build,cargo test,cargo check,cargo clippy,make test,make lint,ruff check,mypy"
    .split(",")
    .map((command) => `allow bash(${command}*)`),
];

async function asked(text: string, rules: readonly string[]): Promise<{ readonly all: number; readonly asked: readonly string[] }> {
  const lines = text.trim().split("\n");
  const judge = judgeBy(rules, cwd);
  const found: string[] = [];
  for (const line of lines) if ((await judge(line)) !== "allow") found.push(line);
  return { all: lines.length, asked: found };
}

function report(what: string, { all, asked: lines }: { readonly all: number; readonly asked: readonly string[] }): void {
  const share = ((100 * lines.length) / all).toFixed(1);
  const named = lines.length < all ? lines : [];
  process.stdout.write(`${what}: ${lines.length} of ${all} ask (${share} %)${named.map((line) => `\n  asks: ${line}`).join("")}\n`);
}

describe("everyday commands", () => {
  it("that only read ask in at most one of fifteen cases, without any rule [MC-15]", async () => {
    const reads = await asked(READS, []);
    report("reads in default mode", reads);
    expect(reads.all).toBeGreaterThanOrEqual(100);
    expect(reads.asked.length / reads.all).toBeLessThanOrEqual(1 / 15);
  });

  it("that check the project run code of the project, so all ask until a rule names them, and none does then [MC-15]", async () => {
    const checks = await asked(CHECKS, []);
    report("checks in default mode", checks);
    expect(checks.asked).toHaveLength(checks.all);
    const ruled = await asked(CHECKS, RULES);
    report("checks with a rule for each program", ruled);
    expect(ruled.asked).toEqual([]);
  });
});
