/**
 * Texts with secrets in them and texts that only look so. All are made here, at random from a seed, so that nothing in this repository has the
 * form of a live credential.
 */
export interface Sample {
  readonly group: string;
  readonly text: string;
  /** What must not be left. Absent: there is none in it. */
  readonly secret?: string;
}

/** Numbers from 0 to 1 that a seed decides. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";
const HEX = "0123456789abcdef";
const ALNUM = `${UPPER}${UPPER.toLowerCase()}${DIGITS}`;
const BASE64 = `${ALNUM}+/`;

export class Corpus {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  of(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet.charAt(Math.floor(this.#random() * alphabet.length))).join("");
  }

  one<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }

  /** Tokens whose beginning gives them away. */
  vendorToken(): Sample {
    const make: { readonly [group: string]: () => string } = {
      "aws key id": () => "AK" + "IA" + this.of(UPPER + DIGITS, 16),
      "github": () => this.one(["ghp", "gho", "ghs"]) + "_" + this.of(ALNUM, 36),
      "gitlab": () => "glpat" + "-" + this.of(ALNUM, 20),
      "slack": () => "xoxb" + `-${this.of(DIGITS, 12)}-${this.of(DIGITS, 12)}-${this.of(ALNUM, 24)}`,
      "vault": () => "hvs" + "." + this.of(ALNUM, 90),
      "anthropic": () => "sk-ant" + "-api03-" + this.of(ALNUM, 93) + "AA",
      "openai": () => "sk-pr" + "oj-" + this.of(ALNUM, 120),
      "old openai": () => "s" + "k-" + this.of(ALNUM, 48),
      "google": () => "AI" + "za" + this.of(ALNUM, 35),
      "stripe": () => "sk_" + "live_" + this.of(ALNUM, 24),
      "npm": () => "npm" + "_" + this.of(ALNUM, 36),
      "hugging face": () => "hf" + "_" + this.of(ALNUM, 34),
      "sendgrid": () => "SG" + `.${this.of(ALNUM, 22)}.${this.of(ALNUM, 43)}`,
      "jwt": () =>
        `${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url")}.${Buffer.from(`{"sub":"${this.of(DIGITS, 9)}"}`).toString("base64url")}.${this.of(ALNUM, 43)}`,
      "private key": () =>
        `${"-----BEGIN "}PRIVATE KEY-----\n${Array.from({ length: 12 }, () => this.of(BASE64, 64)).join("\n")}\n${"-----END "}PRIVATE KEY-----`,
      "azure storage": () => `AccountKey=${this.of(BASE64, 86)}==`,
      "telegram": () => `${this.of("123456789", 10)}:AA${this.of(ALNUM, 33)}`,
    };
    const group = this.one(Object.keys(make));
    const whole = make[group]?.() ?? "";
    const secret =
      group === "private key"
        ? (whole.split("\n")[3] as string)
        : group === "telegram"
          ? whole.slice(11)
          : whole.replace(/^AccountKey=/, "");
    return { group: `vendor: ${group}`, secret, text: this.#around(whole) };
  }

  /** Values without a form of their own, in places where only secrets stand. */
  placed(): Sample {
    const strong = this.of(ALNUM, 20) + this.of(DIGITS, 1) + this.of(UPPER, 1);
    const symbols = `${this.of(ALNUM, 9)}${this.one(["!", "#", "%", "~"])}${this.of(DIGITS, 2)}`;
    const weak = this.one(["dragonfruit", "letmein-please", "winter is coming"]);
    const hex = this.of(HEX, 32);
    const uuid = `${this.of(HEX, 8)}-${this.of(HEX, 4)}-4${this.of(HEX, 3)}-a${this.of(HEX, 3)}-${this.of(HEX, 12)}`;
    const samples: { readonly [group: string]: readonly [text: string, secret: string] } = {
      "password in .env": [`DB_HOST=db\nDB_PASSWORD=${symbols}\nDB_USER=app`, symbols],
      "password in JSON": [JSON.stringify({ user: "app", password: symbols }), symbols],
      "password in YAML": [`auth:\n  username: app\n  password: ${strong}\n`, strong],
      "password in code": [`const client = connect({ host, password: "${symbols}" });`, symbols],
      "url password": [`DATABASE_URL=postgres://app:${strong}@db.internal:5432/app`, strong],
      "bearer": [`> GET /v1\n> Authorization: Bearer ${strong}${hex}\n`, strong],
      "basic": [`authorization: Basic ${Buffer.from(`app:${strong}`).toString("base64")}`, Buffer.from(`app:${strong}`).toString("base64")],
      "query": [`GET https://api.example.com/v1/items?api_key=${strong}&page=2`, strong],
      "api key in .env": [`SERVICE_API_KEY="${hex}"`, hex],
      "api key that is a uuid": [`HEROKU_API_KEY=${uuid}`, uuid],
      "client secret in JSON": [JSON.stringify({ client_id: "abc", client_secret: strong }), strong],
      "aws secret": [`aws_secret_access_key = ${this.of(BASE64, 40)}`, ""],
      "password without digits": [`password: "${weak}"`, weak],
      "password of a program": [`mysql -u root -p${strong} app`, strong],
      "netrc": [`machine api.example.com login app password ${strong}`, strong],
      "bare hex token": [`The token is ${hex}`, hex],
    };
    const group = this.one(Object.keys(samples));
    const [text, secret] = samples[group] as readonly [string, string];
    return { group: `placed: ${group}`, text, secret: secret === "" ? text.slice(text.indexOf("= ") + 2) : secret };
  }

  /** What random data and its neighbours look like. */
  negative(): Sample {
    const make: { readonly [group: string]: () => string } = {
      "hashes": () => `${this.of(HEX, 40)} ${this.of(HEX, 64)}  file.txt\nsha512-${this.of(BASE64, 86)}==`,
      "uuids": () => `id: ${this.of(HEX, 8)}-${this.of(HEX, 4)}-4${this.of(HEX, 3)}-b${this.of(HEX, 3)}-${this.of(HEX, 12)}`,
      "base64 image": () => `<img src="data:image/png;base64,iVBORw0KGgo${this.of(BASE64, 600)}=">`,
      "lock file": () =>
        `"node_modules/x": { "version": "1.2.3", "resolved": "https://packages.example.com/x/-/x-1.2.3.tgz", "integrity": "sha512-${this.of(BASE64, 86)}==" }`,
      "public key": () =>
        `-----BEGIN PUBLIC KEY-----\n${this.of(BASE64, 64)}\n${this.of(BASE64, 64)}\n-----END PUBLIC KEY-----\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5${this.of(BASE64, 48)} me@host`,
      "git log": () =>
        `commit ${this.of(HEX, 40)}\nMerge: ${this.of(HEX, 7)} ${this.of(HEX, 7)}\n\n    Rotate the API key and the password\n`,
      "placeholders": () =>
        this.one([
          "OPENAI_API_KEY=your-api-key-here",
          "password: <your password>",
          "apiKey: process.env.OPENAI_API_KEY",
          'password = os.environ["DB_PASSWORD"]',
          "Authorization: Bearer $TOKEN",
          "postgres://user:password@localhost:5432/db",
          'secret: "${{ secrets.DEPLOY_TOKEN_2 }}"',
          "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxx",
          "sk-...your key",
          "PASSWORD=changeme123",
        ]),
      "code": () =>
        this.one([
          "const token = tokens[index + 1]; const secretKey = deriveKey(masterSecret, salt);",
          'expect(page.locator(".sk-spinner-bounce-delay-container")).toBeVisible();',
          "if (password.length < minPasswordLength2) throw new Error(passwordTooShort);",
          "type Props = { password: string; accessToken?: string; apiKey: string };",
          "const nextPageToken = response.nextPageToken ?? undefined;",
          "hvs.addEventListener('change', hvs.render); const { key } = event;",
          "maxTokens: 4096, token_count: 1234567890, tokenizer: cl100k_base",
          '<input type="password" name="password" autocomplete="current-password">',
          "private_key_path = /etc/ssl/private/server.key",
          "secret_name: projects/app/secrets/database/versions/latest",
        ]),
      "minified": () =>
        `!function(e,t){var n=${this.of(ALNUM, 3)},r="${this.of(ALNUM, 12)}";e.key=t,e.token=n;return a?b:c}(${this.of("abcdefgh", 2)},"${this.of(HEX, 20)}");`,
      "trace ids": () =>
        `traceparent: 00-${this.of(HEX, 32)}-${this.of(HEX, 16)}-01 etag: "${this.of(HEX, 32)}" x-request-id: req_${this.of(ALNUM, 24)}`,
      "page token": () =>
        JSON.stringify({ items: [], cursor: Buffer.from(this.of(ALNUM, 30)).toString("base64"), id: `msg_${this.of(ALNUM, 24)}` }),
    };
    const group = this.one(Object.keys(make));
    return { group: `clean: ${group}`, text: make[group]?.() ?? "" };
  }

  #around(secret: string): string {
    return this.one([
      `export KEY=${secret}\n`,
      `"value": "${secret}",`,
      `curl -H 'x-key: ${secret}' https://example.com`,
      `2026-01-01T00:00:00Z ERROR cannot log in (${secret}): refused`,
      `https://example.com/callback?state=1&value=${secret}#x`,
      `the key ${secret}, which expires soon`,
    ]);
  }
}
