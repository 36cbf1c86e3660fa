// Secrets at the edge: a command that has a password and a model that never sees it; sealed values, and placeholders for requests. All of it is checked.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

process.env["DB_PASSWORD"] = "correct horse battery staple";

// #region smallest
import { createAgent, createRunner, defineTool } from "keelson";
import { createProcessExecutor } from "keelson/environment";
import { createSecretResolver, withSecrets } from "keelson/secrets";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

const secrets = createSecretResolver(); // env:NAME and file:/path
const exec = withSecrets(createProcessExecutor({ cwd: process.cwd() }), {
  secrets,
  credentials: [{ name: "database", reference: "env:DB_PASSWORD", injection: { type: "env-var", variable: "PGPASSWORD" } }],
});
const bash = defineTool({
  name: "bash",
  description: "Runs a command line.",
  input: z.object({ command: z.string() }),
  execute: async ({ command }, { signal }) => (await exec.execute({ command, signal })).stdout,
});
const model = scriptedModel([{ toolCalls: [{ name: "bash", input: { command: 'echo "psql would use $PGPASSWORD"' } }] }, "Done."]);
const runner = createRunner({ agent: createAgent({ name: "operator", model, tools: [bash] }), secrets });
const run = runner.run("Look into the database.");
for await (const event of run) if (event.type === "tool-result") console.log(event.output); // psql would use [redacted]
// #endregion

assert.equal((await run.outcome).reason, "complete");
assert.ok(!JSON.stringify(model.requests).includes("battery staple"));
assert.ok(JSON.stringify(model.requests).includes("psql would use [redacted]"));

const folder = await mkdtemp(join(tmpdir(), "keelson-example-"));
// #region keyring
import { createKeyringSecrets, createSealedFolder, openKeyRing } from "keelson/secrets";

const keys = await openKeyRing(join(folder, "keys.json")); // for its owner alone; made by whoever comes first
const fallback = createSealedFolder({ folder: join(folder, "secrets"), keys });
const keyring = createKeyringSecrets({ fallback });
await keyring.write("github/work", "ghp_example");
// #endregion
await using kept = createSecretResolver({ sources: [keyring] });
assert.equal(await kept.resolve("keyring:github/work"), "ghp_example");
await keyring.remove("github/work");

// #region sealed
import { createSealer } from "keelson/secrets";

const sealer = createSealer(keys);
const sealed = await sealer.sealText("a note", "notes/7"); // opens as notes/7, and as nothing else
await keys.rotate();
const current = await sealer.resealText(sealed, "notes/7");
// #endregion
assert.equal(await sealer.openText(current, "notes/7"), "a note");
await assert.rejects(sealer.openText(current, "notes/8"), /belongs somewhere else/);

// #region placeholder
import { createPlaceholderSecrets } from "keelson/secrets";

const edge = createPlaceholderSecrets({
  secrets,
  allow: [{ variable: "SERVICE_TOKEN", reference: "env:DB_PASSWORD", hosts: ["api.example.com"] }],
});
// In the environment of a command: edge.env. Where its request is sent on:
const { authorization } = await edge.swap({
  url: new URL("https://api.example.com/v1/items"),
  headers: { authorization: [`Bearer ${edge.env["SERVICE_TOKEN"]}`] },
});
// #endregion
assert.deepEqual(authorization, ["Bearer correct horse battery staple"]);

// #region recipes
import { createExecSecrets } from "keelson/secrets";

const cloud = createSecretResolver({
  sources: [
    createExecSecrets({
      programs: {
        aws: {
          program: "aws",
          args: ["secretsmanager", "get-secret-value", "--secret-id", "{}", "--query", "SecretString", "--output", "text"],
          passSecrets: ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
        },
        gcloud: { program: "gcloud", args: ["secrets", "versions", "access", "latest", "--secret={}"] },
      },
    }),
  ],
});
// exec:aws/prod/db and exec:gcloud/prod-db
// #endregion
await assert.rejects(cloud.resolve("exec:other/x"), /There are: aws, gcloud/);
await rm(folder, { recursive: true });
