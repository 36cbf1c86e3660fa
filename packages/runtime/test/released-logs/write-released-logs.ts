/**
 * Writes the logs that a release leaves behind, and what it makes of them itself: the fixtures of `released-logs.test.ts`.
 *
 *     node --conditions=source packages/runtime/test/released-logs/write-released-logs.ts <checkout of the release> <version>
 *
 * All scenarios write to one database, as the sessions of one program do. A life that dies is one that never goes on: what is
 * on disk then is all that others find.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AFTERWARDS, BEGINNING, Life, steadyClock } from "./life.ts";
import { forkAll, goOnWith, lookAt } from "./look-at.ts";
import { loadRelease, type Release } from "./release.ts";
import { saveRecords } from "./saved-records.ts";
import { SCENARIOS } from "./scenarios.ts";

const DATABASES = ["sessions.db", "ledger.db"];
const [checkout, version] = process.argv.slice(2);
if (checkout === undefined || version === undefined) throw new Error("usage: write-released-logs.ts <checkout of the release> <version>");
const release = await loadRelease(checkout);
const target = join(import.meta.dirname, "fixtures", version);
const work = mkdtempSync(join(tmpdir(), "released-logs-"));
rmSync(target, { recursive: true, force: true });
for (const folder of ["checkpointed", "with-wal", "expected"]) mkdirSync(join(target, folder), { recursive: true });

const first = openStores(release, work, BEGINNING);
const noted = new Map<string, { readonly [name: string]: unknown }>();
for (const [index, scenario] of SCENARIOS.entries()) {
  // What comes behind stands in the write-ahead logs.
  if (index === SCENARIOS.length - 4) for (const name of DATABASES) checkpoint(join(work, name));
  const life = new Life({ ...first, release, dies: true, owner: `first-${scenario.name}` });
  const notes = (await scenario.write(scenario.open(life), life)) ?? {};
  noted.set(scenario.name, { notes, doneBefore: life.done });
}

writeFileSync(join(target, "records.jsonl"), await saveRecords(first.log));
for (const name of DATABASES) {
  const checkpointed = join(target, "checkpointed", name);
  for (const suffix of ["", "-wal"]) {
    copyFileSync(join(work, `${name}${suffix}`), join(target, "with-wal", `${name}${suffix}`));
    copyFileSync(join(work, `${name}${suffix}`), `${checkpointed}${suffix}`);
  }
  checkpoint(checkpointed);
}

for (const scenario of SCENARIOS) {
  const { name } = scenario;
  const { notes, doneBefore } = noted.get(name) ?? {};
  const later = (): Life => {
    const folder = mkdtempSync(join(work, `${name}-`));
    for (const file of DATABASES) copyFileSync(join(target, "checkpointed", file), join(folder, file));
    return new Life({ ...openStores(release, folder, AFTERWARDS), release, dies: false, owner: "second" });
  };
  const expected = {
    notes,
    doneBefore,
    found: await lookAt(scenario.open(later()), scenario),
    goneOn: await goOnWith(scenario, later(), (notes ?? {}) as never),
    forks: await forkAll(scenario, later()),
  };
  writeFileSync(join(target, "expected", `${name}.json`), `${JSON.stringify(expected, null, 1)}\n`);
  console.log(name, JSON.stringify(expected.goneOn["outcomes"]), JSON.stringify(expected.goneOn["done"]));
}
rmSync(work, { recursive: true });
process.exit(0);

function checkpoint(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function openStores({ state }: Release, folder: string, start: number) {
  const clock = steadyClock(start);
  const now = () => clock.now();
  return {
    clock,
    log: state.createSqliteEventLog({ path: join(folder, "sessions.db"), now }),
    ledger: state.createSqliteBudgetLedger({ path: join(folder, "ledger.db"), now }),
  };
}
