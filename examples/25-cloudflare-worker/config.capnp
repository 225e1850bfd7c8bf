using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .conversations),
    (name = "disk", disk = (writable = true)),
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const conversations :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  durableObjectNamespaces = [(className = "Conversation", uniqueKey = "conversations", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "CONVERSATIONS", durableObjectNamespace = "Conversation"),
    (name = "MODEL_URL", fromEnvironment = "MODEL_URL"),
    (name = "WAKE_MS", fromEnvironment = "WAKE_MS"),
  ],
);
