/**
 * Writes the table of keys and the screens of `docs/coding-agent.md`: those with the given names, or all.
 *
 *     npm run guide-screens -- plan tasks
 */
import { readFileSync, writeFileSync } from "node:fs";
import { KEYS } from "../../src/editor/keys.ts";
import { withKeys, withScreen } from "./guide-page.ts";
import { takeScreen } from "./scene.ts";
import { SCENES } from "./scenes.ts";

const PAGE = new URL("../../../../docs/coding-agent.md", import.meta.url);
const names = process.argv.slice(2);
const unknown = names.filter((name) => !SCENES.some((scene) => scene.name === name));
if (unknown.length > 0)
  throw new Error(`There is no screen ${unknown.join(", ")}: choose from ${SCENES.map(({ name }) => name).join(", ")}.`);

writeFileSync(PAGE, withKeys(readFileSync(PAGE, "utf8"), KEYS));
for (const scene of SCENES.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const screen = await takeScreen(scene);
  writeFileSync(PAGE, withScreen(readFileSync(PAGE, "utf8"), scene.name, screen));
  process.stdout.write(`${scene.name}\n`);
}
