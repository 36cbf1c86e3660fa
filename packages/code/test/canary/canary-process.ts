// Works on one session with secrets at the edge: in variables and files of commands, in headers of requests, as the key of the model. What it
// is to do stands in its arguments, references to secrets in its variables; it prints every event. At "crash" it dies in the middle of a command.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import type { JsonObject } from "@keelson/protocol";
import { createAgent, createRunner, defineTool } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createProcessExecutor } from "keelson/environment";
import {
  createEnvSecrets,
  createExecSecrets,
  createFileSecrets,
  createPlaceholderSecrets,
  createSealedFolder,
  createKeyringSecrets,
  createSecretResolver,
  openKeyRing,
  withSecrets,
} from "keelson/secrets";
import { recordCassette } from "keelson/testing";
import { openStores } from "../../src/core/stores.ts";

const [session = "", ending = "end", leak = ""] = process.argv.slice(2);
const { KEELSON_HOME: home = "", CANARY_PROGRAM = "", CANARY_FILE = "", CANARY_MODEL = "", CANARY_EDGE = "" } = process.env;
const scratch = join(home, "scratch");
await mkdir(scratch, { recursive: true });

const sealed = createSealedFolder({ folder: join(home, "sealed"), keys: await openKeyRing(join(home, "sealing-keys.json")) });
const keyring = createKeyringSecrets({ fallback: sealed, importModule: async () => Promise.reject(new Error("no keyring here")) });
const secrets = createSecretResolver({
  sources: [
    createEnvSecrets(),
    createFileSecrets(),
    keyring,
    createExecSecrets({ programs: { vault: { program: "cat", args: [CANARY_PROGRAM] } } }),
  ],
});
await keyring.write("canary/sealed", await secrets.resolve("env:CANARY_SEALED_TOKEN"));

const exec = withSecrets(createProcessExecutor({ cwd: scratch }), {
  secrets,
  credentials: [
    { name: "variable", reference: "env:CANARY_TOKEN", injection: { type: "env-var", variable: "DB_PASSWORD" } },
    { name: "program", reference: "exec:vault", injection: { type: "env-var", variable: "API_TOKEN" } },
    { name: "sealed", reference: "keyring:canary/sealed", injection: { type: "env-var", variable: "SEALED_TOKEN" } },
    { name: "file", reference: `file:${CANARY_FILE}`, injection: { type: "file", path: "token" } },
  ],
});
const edge = createPlaceholderSecrets({
  secrets,
  allow: [{ variable: "EDGE_TOKEN", reference: "env:CANARY_TOKEN", hosts: ["127.0.0.1"] }],
});

const bash = defineTool({
  name: "bash",
  description: "Run a command.",
  effect: "write",
  input: {
    type: "object",
    properties: { command: { type: "string" }, maxOutputBytes: { type: "integer" }, timeoutMs: { type: "integer" } },
    required: ["command"],
  } satisfies JsonObject,
  async execute(input, { progress, signal }) {
    const { command, ...limits } = input as { readonly command: string; readonly maxOutputBytes?: number; readonly timeoutMs?: number };
    if (ending === "crash" && command.includes("die")) setTimeout(() => process.kill(process.pid, "SIGKILL"), 300);
    const result = await exec.execute({ command, ...limits, signal, onOutput: (_stream, text) => progress(text) });
    if (result.exitCode !== 0 && !result.timedOut) throw new Error(`The command ended with ${result.exitCode}: ${result.stderr}`);
    return `${result.stdout}${result.stderr}`;
  },
});
const request = defineTool({
  name: "request",
  description: "Send a request.",
  effect: "read",
  input: { type: "object", properties: { url: { type: "string" } }, required: ["url"] } satisfies JsonObject,
  async execute(input) {
    const url = new URL((input as { readonly url: string }).url);
    const headers = await edge.swap({ url, headers: { authorization: [`Bearer ${edge.env["EDGE_TOKEN"]}`] } });
    const response = await fetch(new URL(CANARY_EDGE), { headers: { authorization: headers["authorization"]?.join() ?? "" } });
    return `status ${response.status}`;
  },
});
const missing = defineTool({
  name: "missing",
  description: "Needs a secret that is not there.",
  effect: "read",
  input: { type: "object", properties: {} } satisfies JsonObject,
  execute: async (_input, call) => {
    await call.secrets?.resolve("env:CANARY_NOT_THERE");
    return "unreachable";
  },
});
// Shows that the scan finds what it looks for.
const leaking = defineTool({
  name: "leak",
  description: "Gives a secret away.",
  effect: "read",
  input: { type: "object", properties: {} } satisfies JsonObject,
  execute: async (_input, call) => `${leak === "" ? "" : await call.secrets?.resolve("env:CANARY_TOKEN")}`,
});

const recorder = recordCassette({ secrets: [] });
const { ANTHROPIC_BASE_URL: baseUrl } = process.env;
const anthropic = createAnthropicProvider({
  apiKey: () => secrets.resolve(CANARY_MODEL),
  ...(baseUrl !== undefined && { baseUrl }),
  fetch: recorder.fetch,
});
await using stores = await openStores(process.env);
const runner = createRunner({
  agent: createAgent({
    name: "code",
    model: "anthropic/claude-sonnet-4-5",
    tools: [bash, request, missing, leaking],
    permissions: { mode: "bypass-all" },
    debugFile: join(scratch, `${session}.debug.log`),
    limits: { maxTurns: 20 },
  }),
  log: stores.log,
  blobs: stores.blobs,
  approvalKeys: stores.keys,
  secrets,
  models: createModelRegistry({ providers: { anthropic } }),
});
const run = ending === "resume" ? await runner.resume(session) : runner.run(`${session}: go`, { session });
for await (const event of run) process.stdout.write(`${JSON.stringify(event)}\n`);
const outcome = await run.outcome;
process.stdout.write(
  `${JSON.stringify(outcome)}\n${inspect({ runner, secrets, exec, edge, sealed, keyring, outcome }, { depth: 8, showHidden: true })}\n`,
);
await recorder.save(join(scratch, `${session}.cassette.json`));
await writeFile(join(scratch, `${session}.report.json`), JSON.stringify(process.report.getReport()));
if (ending === "uncaught") {
  void secrets.resolve("env:CANARY_NOT_THERE");
  await new Promise(() => setTimeout(() => {}, 10_000));
}
