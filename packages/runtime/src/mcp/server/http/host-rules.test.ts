import { expect, it } from "vitest";
import { createHostRules, isLoopback } from "./host-rules.ts";

it("knows which addresses only this machine reaches", () => {
  expect(["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"].filter((host) => !isLoopback(host))).toEqual([]);
  expect(["0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil.example", ""].filter(isLoopback)).toEqual([]);
});

it("lets names of this machine in where it listens there, with any port", () => {
  const rules = createHostRules({ host: "127.0.0.1" });
  const isLetIn = (host: string | undefined, origin?: string): boolean => rules.problemWith({ host, origin }) === undefined;
  expect(["localhost", "localhost:3000", "127.0.0.1:1", "[::1]:80"].every((host) => isLetIn(host))).toBe(true);
  expect([undefined, "", "evil.example", "localhost.evil.example", "a b", "evil.example#localhost"].some((host) => isLetIn(host))).toBe(
    false,
  );
  expect(isLetIn("localhost", "https://localhost:5173")).toBe(true);
  expect(
    ["null", "", "https://evil.example", "https://localhost.evil.example", "file://"].some((origin) => isLetIn("localhost", origin)),
  ).toBe(false);
});

it("lets no page in where it listens for others, and any host, unless it is told which", () => {
  const open = createHostRules({ host: "0.0.0.0" });
  expect(open.problemWith({ host: "mcp.example" })).toBeUndefined();
  expect(open.problemWith({ host: "mcp.example", origin: "https://mcp.example" })).toMatch(/allowedOrigins/);
  const told = createHostRules({ host: "0.0.0.0", allowedHosts: ["mcp.example:8080"], allowedOrigins: ["https://app.example"] });
  expect(told.problemWith({ host: "mcp.example:8080", origin: "https://app.example" })).toBeUndefined();
  expect(told.problemWith({ host: "mcp.example:9090" })).toMatch(/allowedHosts/);
  expect(told.problemWith({ host: "mcp.example:8080", origin: "http://app.example" })).toMatch(/allowedOrigins/);
});
