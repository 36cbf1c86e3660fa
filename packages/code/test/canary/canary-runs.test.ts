import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import { type Finished, openWorkspace } from "../keelson-process.ts";
import { type Canaries, type Finding, findingsIn, findingsInFolder } from "./scan-for-values.ts";

const PROCESS = fileURLToPath(new URL("./canary-process.ts", import.meta.url));

/** What the commands of a run do with the secrets that they find. */
const COMMANDS: readonly object[] = [
  { command: 'echo "$DB_PASSWORD $API_TOKEN $SEALED_TOKEN"; cat "$KEELSON_CREDENTIALS/token"' },
  { command: "env; set" },
  { command: 'printf %s "$DB_PASSWORD" | base64; printf %s "$API_TOKEN" | od -An -tx1 | tr -d " \\n"' },
  { command: 'for i in $(seq 1 200); do echo "$API_TOKEN$SEALED_TOKEN"; done', maxOutputBytes: 1000 },
  { command: 'echo "failed: $DB_PASSWORD" >&2; exit 3' },
  { command: 'echo "$DB_PASSWORD"; sleep 60', timeoutMs: 200 },
  { command: 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " " > listing-$$; ps -ef > ps-$$ 2>/dev/null || true' },
];
const ENDINGS = ["end", "crash", "uncaught", "refused", "end"] as const;

interface Scene extends AsyncDisposable {
  readonly canaries: Canaries;
  /** What edge requests were let in with. */
  readonly arrived: Set<string>;
  run(session: string, ending: string, leak?: string): Promise<readonly Finding[]>;
  /** Everything that is there when all runs have ended. */
  scanAll(sessions: readonly string[]): Promise<readonly Finding[]>;
}

async function openScene(): Promise<Scene> {
  const canary = (name: string): string => `cnry/${name}+${randomBytes(15).toString("base64url")}`;
  const canaries = {
    variable: canary("variable"),
    program: canary("program"),
    file: canary("file"),
    sealed: canary("sealed"),
    model: canary("model"),
  };
  // Where the secrets themselves are kept is not scanned.
  const sources = await mkdtemp(join(tmpdir(), "keelson-canaries-"));
  await writeFile(join(sources, "program"), `${canaries.program}\n`, { mode: 0o600 });
  await writeFile(join(sources, "file"), `${canaries.file}\n`, { mode: 0o600 });
  const arrived = new Set<string>();
  const edge = createServer((request, response) => {
    arrived.add(request.headers.authorization ?? "");
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => edge.listen(0, "127.0.0.1", resolve));

  const workspace = await openWorkspace((request) => {
    const body = JSON.stringify(request.body);
    const results = body.split('"tool_result"').length - 1;
    const number = Number(/run-(\d+)/.exec(body)?.[1] ?? 0);
    // A vendor that repeats the key which it refuses.
    if (body.includes("refused-"))
      return { status: 401, error: { type: "authentication_error", message: `invalid x-api-key: ${canaries.model}` } };
    if (results === 0)
      return {
        toolCalls: [
          { name: "bash", input: COMMANDS[number % COMMANDS.length] as never },
          { name: "bash", input: COMMANDS[(number * 3 + 1) % COMMANDS.length] as never },
          { name: "request", input: { url: number % 4 === 3 ? "https://elsewhere.example/" : "http://127.0.0.1/" } },
          { name: "missing", input: {} },
          { name: "leak", input: {} },
        ],
      };
    if (body.includes("crash-") && !body.includes("sleep 1;"))
      return { toolCalls: [{ name: "bash", input: { command: "echo $DB_PASSWORD; sleep 1; echo die" } }] };
    return { text: "done" };
  });
  const temporary = join(workspace.home, "tmp");
  const reports = join(workspace.home, "reports");
  await mkdir(workspace.home, { mode: 0o700 });
  for (const folder of [temporary, reports]) await mkdir(folder);

  const start = async (session: string, ending: string, leak: string): Promise<Finished> => {
    const child = spawn(
      process.execPath,
      [
        "--conditions=source",
        "--report-uncaught-exception",
        "--report-exclude-env",
        `--report-directory=${reports}`,
        PROCESS,
        session,
        ending,
        leak,
      ],
      {
        cwd: workspace.project,
        env: {
          ...workspace.environment,
          TMPDIR: temporary,
          CANARY_TOKEN: canaries.variable,
          CANARY_SEALED_TOKEN: canaries.sealed,
          CANARY_MODEL_API_KEY: canaries.model,
          CANARY_MODEL: "env:CANARY_MODEL_API_KEY",
          CANARY_PROGRAM: join(sources, "program"),
          CANARY_FILE: join(sources, "file"),
          CANARY_EDGE: `http://127.0.0.1:${(edge.address() as AddressInfo).port}/`,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, stdout, stderr };
  };

  return {
    canaries,
    arrived,
    async run(session, ending, leak = "") {
      const findings: Finding[] = [];
      const note = ({ stdout, stderr }: Finished): void =>
        void findings.push(...findingsIn("stdout", stdout, canaries), ...findingsIn("stderr", stderr, canaries));
      const first = await start(session, ending, leak);
      note(first);
      const expected = ending === "crash" ? null : ending === "uncaught" ? 1 : 0;
      if (first.code !== expected) throw new Error(`${session} ended with ${first.code}, not ${expected}: ${first.stderr}`);
      if (ending === "crash") {
        const second = await start(session, "resume", leak);
        note(second);
        if (second.code !== 0) throw new Error(`${session} was not resumed: ${second.stderr}`);
      }
      return findings;
    },
    async scanAll(sessions) {
      const findings = [...(await findingsInFolder(workspace.home, canaries)), ...(await findingsInFolder(workspace.project, canaries))];
      for (const session of sessions) {
        const shown = await workspace.keelson("sessions", "show", session, "--json");
        if (shown.code !== 0 || !shown.stdout.includes(session)) throw new Error(`${session} was not shown: ${shown.stderr}`);
        findings.push(...findingsIn(`sessions show ${session}`, shown.stdout + shown.stderr, canaries));
        const exported = await workspace.keelson("sessions", "export", session, "-");
        if (exported.code !== 0 || !exported.stdout.includes('"type":"end"'))
          throw new Error(`${session} was not exported: ${exported.stderr}`);
        findings.push(...findingsIn(`sessions export ${session}`, exported.stdout + exported.stderr, canaries));
      }
      // What a model is told goes to its vendor.
      for (const { body } of workspace.server.requests)
        findings.push(...findingsIn("request to the model", JSON.stringify(body), canaries));
      return findings;
    },
    async [Symbol.asyncDispose]() {
      edge.closeAllConnections();
      edge.close();
      await workspace[Symbol.asyncDispose]();
      await rm(sources, { recursive: true, force: true });
    },
  };
}

describe("secrets that are used at the edge", () => {
  it("stand in no store, log, blob, event, file, process listing or crash output of scripted runs", async () => {
    const runs = sampleSize("runs with canary secrets", { test: 4, ci: 10, soak: 100 });
    await using scene = await openScene();
    const sessions: string[] = [];
    const findings: Finding[] = [];
    for (let number = 0; number < runs; number++) {
      const ending = ENDINGS[number % ENDINGS.length] as string;
      const session = `${ending}-run-${number}`;
      findings.push(...(await scene.run(session, ending)));
      sessions.push(session);
    }
    expect(scene.arrived).toEqual(new Set([`Bearer ${scene.canaries["variable"]}`]));
    expect([...findings, ...(await scene.scanAll(sessions))]).toEqual([]);
  }, 1_800_000);

  it("are found by the same scan where a tool gives one away", async () => {
    await using scene = await openScene();
    const findings = [...(await scene.run("end-run-1", "end", "leak")), ...(await scene.scanAll(["end-run-1"]))];
    expect(findings).toEqual(expect.arrayContaining([expect.objectContaining({ place: "stdout", name: "variable" })]));
    expect(findings.map(({ place }) => place).join("\n")).toMatch(/sqlite|\.db/);
    expect(findings.map(({ place }) => place)).toEqual(
      expect.arrayContaining(["request to the model", "sessions show end-run-1", "sessions export end-run-1"]),
    );
  }, 60_000);
});
