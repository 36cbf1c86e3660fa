import { expect, it } from "vitest";
import { readDescriptors } from "./read-descriptors.ts";

it("asks for nothing that a server fills in", async () => {
  const properties = { scale: { type: "string", default: "css" }, name: { type: "string" } };
  const { tools } = await readDescriptors([{ name: "shoot", inputSchema: { type: "object", properties, required: ["scale", "name"] } }]);
  expect(tools).toMatchObject([{ inputSchema: { properties, required: ["name"] } }]);
});
