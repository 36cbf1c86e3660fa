import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { sessionLog, type LogId } from "@keelson/protocol";
import { applyRecord } from "../packages/runtime/src/session/apply-record.ts";
import { restoreLargeRecord } from "../packages/runtime/src/session/large-records.ts";
import { sessionLogs } from "../packages/runtime/src/session/session-logs.ts";
import { emptySession, type SessionState } from "../packages/runtime/src/session/session-state.ts";
import { FOLD_VERSION } from "../packages/runtime/src/session/snapshots/snapshot.ts";
import { createMemoryBlobStore, createMemoryEventLog } from "../packages/runtime/src/state/index.ts";
import { restoreRecords } from "../packages/runtime/test/released-logs/saved-records.ts";
import { root } from "../tools/run-command.ts";

const sessionFolder = join(root, "packages/runtime/src/session");
const releasedLogs = join(root, "packages/runtime/test/released-logs/fixtures");

const remedy = `The folded state of sessions changed, so a snapshot that an earlier build wrote may lack it.
If a log now folds to another state (a new field, a new count, a new meaning), raise FOLD_VERSION in
packages/runtime/src/session/snapshots/snapshot.ts; if the change only rewrites code, leave it.
Then run \`npx vitest run test/fold-version.test.ts -u\` and commit the new pin.`;

/** Returns a line for each member of `SessionState` and of the types of the session folder that it is made of. */
function stateShape(): readonly string[] {
  const file = join(sessionFolder, "session-state.ts");
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    lib: ["lib.es2024.d.ts"],
    customConditions: ["source"],
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const lines = new Set<string>();
  const seen = new Set<ts.Symbol>();

  /** Adds the members of the named types of the session folder that a declaration mentions. */
  const describeMentioned = (node: ts.Node): void => {
    // The data of records is not state: the log has it in any version.
    if (ts.isIdentifier(node) && node.text !== "RecordOf") {
      const symbol = checker.getSymbolAtLocation(node);
      if (symbol !== undefined) describeSymbol(symbol);
    }
    ts.forEachChild(node, describeMentioned);
  };

  const describeSymbol = (mentioned: ts.Symbol): void => {
    const symbol = (mentioned.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(mentioned) : mentioned;
    if (seen.has(symbol)) return;
    seen.add(symbol);
    for (const declaration of symbol.declarations ?? []) {
      if (!declaration.getSourceFile().fileName.startsWith(`${sessionFolder}/`)) continue;
      if (!ts.isInterfaceDeclaration(declaration) && !ts.isTypeAliasDeclaration(declaration)) continue;
      const members = ts.isInterfaceDeclaration(declaration)
        ? [...(declaration.heritageClauses ?? []), ...declaration.members]
        : [declaration.type];
      for (const member of members) lines.add(`${symbol.name}: ${tokensOf(member.getText()).join(" ")}`);
      ts.forEachChild(declaration, describeMentioned);
    }
  };

  const source = program.getSourceFile(file);
  const state = source?.statements.find((statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === "SessionState");
  if (state === undefined)
    throw new Error("session-state.ts declares no interface SessionState: name the state's new place in test/fold-version.test.ts");
  describeSymbol(checker.getSymbolAtLocation((state as ts.InterfaceDeclaration).name)!);
  return [...lines].sort();
}

/** Returns the tokens of a text, without comments and white space. */
function tokensOf(text: string): readonly string[] {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const tokens: string[] = [];
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) tokens.push(scanner.getTokenText());
  return tokens;
}

/** Returns a digest of the code that folds records. */
function foldCodeDigest(): string {
  const folds = readdirSync(join(sessionFolder, "folds"))
    .filter((name) => !name.includes(".test"))
    .sort();
  const files = ["apply-record.ts", ...folds.map((name) => `folds/${name}`)];
  return digest(files.map((file) => `${file}\n${tokensOf(readFileSync(join(sessionFolder, file), "utf8")).join(" ")}`));
}

/** Returns a digest of the states of each session of a released version, after each of its records. */
async function foldedStatesDigest(version: string): Promise<string> {
  let at = 0;
  const blobs = createMemoryBlobStore();
  const log = { ...createMemoryEventLog({ now: () => at }), blobs };
  await restoreRecords(readFileSync(join(releasedLogs, version, "records.jsonl"), "utf8"), log, (time) => void (at = time));
  const states: string[] = [];
  for await (const { session } of sessionLogs(log)) {
    const state = emptySession(session);
    for await (const record of log.read(sessionLog(session) as LogId)) {
      applyRecord(state, await restoreLargeRecord(record, blobs));
      states.push(stateDigest(state));
    }
  }
  expect(states.length).toBeGreaterThan(500);
  return digest(states);
}

function stateDigest({ conversation, ...state }: SessionState): string {
  const plain = (_key: string, value: unknown): unknown => (value instanceof Map || value instanceof Set ? [...value] : value);
  return digest([JSON.stringify(state, plain), JSON.stringify(conversation.messages)]);
}

function digest(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length} ${text}\n`);
  return hash.digest("hex");
}

describe("FOLD_VERSION", () => {
  it("is raised with each change of the state that a log folds to", { timeout: 60_000 }, async () => {
    const states = await Promise.all(
      readdirSync(releasedLogs).map(async (version) => `states of the logs of ${version}: ${await foldedStatesDigest(version)}`),
    );
    const pin = [`FOLD_VERSION ${FOLD_VERSION}`, `code of the folds: ${foldCodeDigest()}`, ...states, "", ...stateShape(), ""].join("\n");
    await expect(pin, remedy).toMatchFileSnapshot("fold-version.pinned.txt");
  });
});
