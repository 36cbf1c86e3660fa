/** Names of files and folders that hold keys, tokens or passwords, in any folder. A folder includes its content; `*` is any characters of one name. */
export const SECRET_PATHS: readonly string[] = [
  ...[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".dev.vars",
    ".dev.vars.*",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".pypirc",
  ],
  ...[
    ".htpasswd",
    ".vault-token",
    ".vault-pass",
    ".vault_pass*",
    ".s3cfg",
    ".boto",
    ".npmtoken",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.p8",
    "*.jks",
  ],
  ...[
    "*.keystore",
    "*.kdb",
    "*.kdbx",
    "*.ppk",
    "*.ovpn",
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate",
    "*.tfstate.backup",
    "*.agekey",
    "*.asc.key",
  ],
  ...["id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials.json", "client_secret*.json", "service-account*.json"],
  ...[
    "service_account*.json",
    "serviceAccount*.json",
    "secrets.y*ml",
    "secrets.json",
    "secrets.toml",
    ".secrets",
    ".streamlit/secrets.toml",
  ],
  ...[
    "master.key",
    "local.settings.json",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    "kubeconfig",
    ".config/gcloud",
    ".config/gh",
    ".keelson",
  ],
  ...[
    ".docker/config.json",
    ".dockercfg",
    ".cargo/credentials*",
    ".gem/credentials",
    ".terraform.d/credentials*",
    ".terraformrc",
    ".config/op",
  ],
  ...[".password-store", ".bash_history", ".zsh_history", ".node_repl_history", ".python_history", ".psql_history", ".mysql_history"],
];

/** Names that the list above would take for secrets, and that never hold any: samples and public halves of keys. */
export const SECRET_SAMPLES: readonly string[] = [
  ...["*.example", "*.sample", "*.template", "*.dist", "*.tmpl", "*.tpl", "example.env", "sample.env", "template.env", "id_*.pub"],
];

/** The same of the system: absolute. */
export const SYSTEM_SECRET_PATHS: readonly string[] = [
  ...["/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*", "/proc/*/environ", "/proc/*/mem"],
];
