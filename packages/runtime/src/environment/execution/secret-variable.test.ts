import { describe, expect, it } from "vitest";
import { createChildEnvironment } from "./child-environment.ts";
import { PASSED_OUTSIDE, PASSED_VARIABLES } from "./passed-variables.ts";
import { isSecretName, secretsOfVariable } from "./secret-variable.ts";

const KEY = "Zk39-qmw7-Tn04-vbx2";

describe("a variable", () => {
  it.each([
    "OPENAI_API_KEY",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SSHPASS",
    "GH_PAT",
    "STRIPE_KEY",
    "STRIPE_KEY_PROD",
    "NPM_CONFIG__AUTH",
    "npm_config__authToken",
    "SENTRY_DSN",
    "SLACK_WEBHOOK_URL",
    "AZURE_STORAGE_CONNECTION_STRING",
    "DB_PASS",
    "CARGO_REGISTRY_TOKEN",
    "UV_INDEX_INTERNAL_PASSWORD",
    "POETRY_HTTP_BASIC_ACME_PASSWORD",
    "CONDA_TOKEN",
    "LC_SECRET",
    "XDG_COOKIE",
    "JWT",
  ])("named %s is taken for a secret", (name) => {
    expect(isSecretName(name, KEY)).toBe(true);
    expect(secretsOfVariable(name, KEY)).toContain(KEY);
  });

  it.each([
    ["PWD", "/home/ada/work"],
    ["OLDPWD", "/home/ada"],
    ["SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"],
    ["GIT_ASKPASS", "/usr/lib/askpass"],
    ["XDG_SESSION_ID", "3"],
    ["XAUTHORITY", "/home/ada/.Xauthority"],
    ["GIT_AUTHOR_NAME", "Ada"],
    ["MAX_TOKENS", "4096"],
    ["TOKENIZERS_PARALLELISM", "false"],
    ["KEYTIMEOUT", "1"],
    ["COMPASS", "north"],
    ["BYPASS", "1"],
    ["PATH", "/usr/local/bin:/usr/bin"],
    ["VIRTUAL_ENV", "/home/ada/.cache/pypoetry/virtualenvs/app-9TtSrW0hQe4K-py3.11"],
    ["GITHUB_SHA", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
    ["SSL_CERT_FILE", "/etc/ssl/cert.pem"],
    ["NPM_KEY_FILE", "/home/ada/key.pem"],
    ["DATABASE_URL", "postgres://localhost:5432/app"],
    ["DATABASE_URL", "postgres://app@localhost:5432/app"],
    ["EMAIL", "ada.lovelace1815@example.com"],
    ["IMAGE", "app:1.2@sha256:9f86d081884c7d659a2feaa0c55ad015"],
    ["LS_COLORS", "di=01;34:ln=01;36:*.tar=01;31"],
  ])("%s=%s is taken for none", (name, value) => expect(secretsOfVariable(name, value)).toBeUndefined());

  it.each([
    ["a token of a vendor", "LANG", "ghp_0123456789abcdefghijABCDEFGHIJ"],
    ["the password of a URL", "HTTPS_PROXY", "http://ada:correct7horse8@proxy.example:3128"],
    ["the login of a proxy without a scheme", "HTTP_PROXY", "ada:correct7horse8@proxy.example:3128"],
    ["a token as the user of a URL", "GOPROXY", "https://tok3n9x8y7w6v5u4@goproxy.example,direct"],
    ["a random text of letters and digits", "TERM", "wJalrXUtnFEMI0K7MDENG1bPxRfiCY2c"],
    ["a private key", "CI", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA\n-----END PRIVATE KEY-----"],
    ["a JSON Web Token", "TZ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"],
  ])("whose value holds %s is taken for a secret whatever its name is", (_what, name, value) =>
    expect(secretsOfVariable(name, value)?.length).toBeGreaterThan(0),
  );
});

describe("the texts of a variable that must not be seen", () => {
  it.each([
    ["short", "hunter2"],
    ["a word", "production"],
    ["a long word", "Misunderstandings"],
    ["a number", "1234567890123456"],
    ["a host", "db.internal.example.com:5432"],
    ["an address", "[2001:db8::8a2e:370:7334]:443"],
    ["a path", "/home/ada/.config/app/credentials.json"],
    ["a path from home", "~/keys/service-account.json"],
    ["of few characters", "************"],
  ])("leave out a value that is %s, since it stands in other texts", (_what, value) =>
    expect(secretsOfVariable("SERVICE_TOKEN", value)).toEqual([]),
  );

  it.each(["correct-horse-battery", "bqzkxwvtrplmnghd", "0123-4567-89ab-cdef", "/9j4AAQSkZJRgABAQEAYABgAAD2wBDAAIBAQ=="])(
    "hold a value like %s whole",
    (value) => expect(secretsOfVariable("SERVICE_TOKEN", value)).toContain(value),
  );

  it("are user and password alone of a URL, as they are written and as they are meant", () => {
    const hidden = secretsOfVariable("DATABASE_URL", "postgres://reporting-app7:s3cr3t%2Fp4ssw0rd@db.example.com:5432/app");
    expect(hidden).toEqual(
      expect.arrayContaining(["s3cr3t%2Fp4ssw0rd", "s3cr3t/p4ssw0rd", "reporting-app7", "reporting-app7:s3cr3t%2Fp4ssw0rd"]),
    );
    for (const text of hidden ?? []) expect(text).not.toMatch(/example|5432|postgres/);
  });

  it("hold the lines of a key, which programs print one by one", () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA";
    expect(secretsOfVariable("TLS_KEY", `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----`)).toContain(line);
  });
});

describe("the environment of a command", () => {
  const inherited = {
    PATH: "/usr/bin",
    JAVA_HOME: "/opt/java",
    XDG_CONFIG_HOME: "/home/ada/.config",
    LC_ALL: "C",
    HTTPS_PROXY: "http://proxy.example:3128",
    HTTP_PROXY: `http://ada:${KEY}@proxy.example:3128`,
    CARGO_HOME: "/home/ada/.cargo",
    CARGO_REGISTRY_TOKEN: KEY,
    MY_SETTING: "on",
    MY_TOKEN: `${KEY}-mine`,
    GITHUB_ENV: "/tmp/env",
    absent: undefined,
  };
  const LISTED = [...PASSED_VARIABLES, ...PASSED_OUTSIDE];

  it("holds what the list names, without what looks like a secret", () => {
    const { variables, withheld } = createChildEnvironment(inherited, { listed: LISTED });
    expect(Object.keys(variables)).toEqual(["PATH", "JAVA_HOME", "XDG_CONFIG_HOME", "LC_ALL", "HTTPS_PROXY", "CARGO_HOME"]);
    expect(withheld).toEqual([
      { name: "HTTP_PROXY", reason: "secret" },
      { name: "CARGO_REGISTRY_TOKEN", reason: "secret" },
      { name: "MY_SETTING", reason: "unlisted" },
      { name: "MY_TOKEN", reason: "secret" },
      { name: "GITHUB_ENV", reason: "unlisted" },
    ]);
  });

  it("holds what a person names, and a secret only by its whole name, which is still not shown", () => {
    const byPattern = createChildEnvironment(inherited, { listed: LISTED, pass: ["MY_*"] });
    expect(byPattern.variables).toMatchObject({ MY_SETTING: "on" });
    expect(byPattern.variables).not.toHaveProperty("MY_TOKEN");
    const byName = createChildEnvironment(inherited, { listed: LISTED, pass: ["MY_TOKEN"] });
    expect(byName.variables).toMatchObject({ MY_TOKEN: `${KEY}-mine` });
    expect(byName.variables).not.toHaveProperty("MY_SETTING");
    expect(byName.secrets).toContainEqual({ name: "MY_TOKEN", value: `${KEY}-mine` });
  });
});
