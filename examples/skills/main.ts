// An agent with skills: the model reads what each is for, and loads the text of one when the task needs it.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { scriptedModel } from "keelson/testing";

const folder = fileURLToPath(new URL("./skills", import.meta.url));
const model = scriptedModel([{ toolCalls: [{ name: "load_skill", input: { name: "release-notes" } }] }, "- Exports are twice as fast."]);

// #region agent
import { createAgent, createRunner } from "keelson";
import { skillSource } from "keelson/skills";

const agent = createAgent({ name: "writer", model, toolSources: [skillSource({ folders: [folder] })] });
const { text } = await createRunner({ agent }).run("Write the notes of version 2: exports are twice as fast.").outcome;
console.log(text); // - Exports are twice as fast.
// #endregion
assert.equal(text, "- Exports are twice as fast.");
const [first, second] = model.requests;
assert.match(first?.tools?.find(({ name }) => name === "load_skill")?.description ?? "", /- release-notes: Write release notes/);
assert.doesNotMatch(JSON.stringify(first), /Group the changes/);
assert.match(JSON.stringify(second?.messages), /Group the changes/);

// #region accept
import { readFile } from "node:fs/promises";
import { createHash } from "node:crypto";

const known = new Set<string>();
const checked = skillSource({
  folders: [folder],
  accept: async ({ file }) =>
    known.has(
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    ),
});
// #endregion
const opened = await checked.open({} as never);
await opened.ready;
assert.deepEqual(opened.tools(), []);
