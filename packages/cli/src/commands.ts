import type { CommandContext } from "./command-context.ts";
import type { OptionName, OptionValues } from "./options.ts";

/** A command: its help, and its function, whose modules are loaded on demand. */
export interface Command {
  readonly usage: readonly (readonly [call: string, does: string])[];
  /** The options of the command: the name of the value, empty if it takes none, and the effect. */
  readonly options: { readonly [Name in OptionName]?: readonly [value: string, does: string] };
  /** Headings above some of its options in the help, by the first option below them. */
  readonly sections?: { readonly [Name in OptionName]?: string };
  readonly examples?: readonly string[];
  readonly about?: string;
  /** The meaning of the words after its name. */
  readonly takes: "nothing" | "paths" | "question";
  readonly run: (words: readonly string[], values: OptionValues, context: CommandContext) => Promise<number>;
}

const store = [
  "STORE",
  "what keeps threads: a SQLite file, a folder (with a / at its end) for files in JSON lines, postgres://… or redis://…",
] as const;

const messageFormats =
  "chat (OpenAI's chat messages), responses (its Responses items), model, ui (the AI SDK's ModelMessage and UIMessage), langchain";

const datasets = "a data set in JSON lines: sft, dpo (OpenAI's fine-tuning), trl";

const journals = `Journals are files in JSON lines, or folders of .jsonl files. A module's default export is a machine's options, such as { policy: lastTurns(3) }; without one, everything is kept.`;

/** The options that `chat` shares with other commands that have a model and a store. */
const conversing = {
  model: ["NAME", "the model (default: that of the agent, OPENAI_MODEL, or gpt-4o-mini)"],
  provider: [
    "NAME",
    "openai (default: chat completions), openai-responses, completion (text completions), or a provider of the AI SDK that is installed: anthropic, google, mistral …, ai-sdk:PACKAGE",
  ],
  "base-url": ["URL", "the server of the model (default: OPENAI_BASE_URL, else the provider's)"],
  template: ["FILE", "of --provider completion: a Jinja chat template, or a prompt format in JSON"],
  system: ["TEXT", "the system prompt"],
  window: [
    "TOKENS",
    "how many tokens the model takes, question and answer: older turns are summed up when it fills (default: no bound)",
  ],
  "max-turns": ["N", "how many earlier turns the model sees; 0 is none (default: all)"],
  agent: ["FILE", "the agent of a YAML or Markdown file; what is given here goes before what it says"],
  tools: ["FILE", "a module whose default export is tools; runs its code. May be given again"],
  mcp: [
    "SERVER",
    "the tools of an MCP server: its command or its URL, NAME=… where two have tools of one name. May be given again",
  ],
  "allow-tools": [
    "",
    "loads the modules of an agent's tools, which runs their code, and runs tools of MCP servers without asking",
  ],
} as const satisfies Command["options"];

export const commands: Readonly<Record<string, Command>> = {
  chat: {
    usage: [
      ["chat [options]", "a conversation; from a pipe, each line is a question"],
      ["chat QUESTION [options]", "one answer; what comes from a pipe is attached to the question"],
    ],
    options: {
      thread: ["ID", "the thread to continue, or to begin; new draws an id (default: chat)"],
      store: [store[0], `${store[1]}; files and folders are made (default: none, nothing is kept)`],
      session: ["FILE", "keeps the thread in a SQLite file, not in JSON, and continues the newest thread in it"],
      continue: ["", "continues the newest thread of the store"],
      resume: ["[THREAD]", "continues an existing thread; without an id it is chosen from a list"],
      "multi-turn": ["", "continues the conversation after the question"],
      ...conversing,
      react: ["", "the model writes its reasoning before it calls tools, in at most 10 steps; not with --agent"],
      approve: ["ID", "has a tool call run that waits, and shows the answer; the ID says of which thread"],
      deny: ["ID", "has it not run"],
      reason: ["TEXT", "of --deny: why, for the model"],
      "output-format": ["FORMAT", "text (default), json (an object for each answer), stream-json (a part a line)"],
      schema: ["FILE", "a JSON Schema that each answer must fit"],
      extract: ["", "of each answer only its first block of code, if it has one"],
      "no-stream": ["", "shows answers when they are whole"],
      quiet: ["", "only answers and errors"],
      verbose: ["", "tool calls with their whole arguments and results"],
      debug: ["", "the prompt of each model call, as it was sent, beside the answers"],
      keys: ["PRESET", "standard (default) or seed"],
      theme: ["NAME", "the colours: dark, light, monochrome or plain (default: as the terminal says)"],
      "screen-reader": ["", "line by line, with labels, and nothing that moves"],
      "no-color": ["", "without colours, as with NO_COLOR"],
    },
    sections: {
      thread: "Where the conversation is kept",
      model: "The model, and what it sees",
      agent: "Agents and tools",
      approve: "Approvals",
      "output-format": "What is shown",
    },
    examples: [
      "colloquy chat --store threads.db --continue",
      'colloquy chat "What is a queue?" --model gpt-4o-mini',
      'git diff | colloquy chat "Write a commit message" --quiet',
      "colloquy chat --provider anthropic --model claude-sonnet-4-5",
      'colloquy chat --mcp "npx -y @modelcontextprotocol/server-filesystem ."',
    ],
    about: `Only answers go to the output; all else goes to the error output, where nobody sits at a terminal. Keys are read from the environment alone: OPENAI_API_KEY, ANTHROPIC_API_KEY, and so on.

Defaults of these options, by their names, stand in ~/.config/colloquy/settings.json and in the project's .colloquy/settings.json, which goes before it. A project sets model, system, window, max-turns and thread; anything else when the settings of the user name its folder in "trust".

Exit codes: 0; 1 a turn failed; 2 what was given can't be used, and nothing was asked; 3 a limit or the model's window; 4 a tool call waits for approval; 130 interrupted.`,
    takes: "question",
    run: async (words, values, context) => (await import("./chat.ts")).chat(words, values, context),
  },
  serve: {
    usage: [
      ["serve --store STORE --port N", "threads over HTTP, for clients of OpenAI's Responses API and of the AI SDK"],
    ],
    options: {
      store: [store[0], `${store[1]}; files and folders are made (default: none, nothing is kept)`],
      port: ["N", "the port; 0 for one that is free (default: 8080)"],
      host: ["ADDRESS", "the address; one that other machines reach needs a token (default: 127.0.0.1)"],
      "token-file": ["FILE", "who asks has to bear the token in it (default: on this machine, anybody may)"],
      ...conversing,
    },
    sections: {
      store: "Where it listens, and keeps threads",
      model: "The model, and what it sees",
      agent: "Agents and tools",
    },
    examples: ["colloquy serve --store threads.db --port 8080 --model gpt-4o-mini"],
    about: `It ends at SIGTERM or SIGINT: what comes is refused, answers that are under way go on for ten seconds, and turns for longer when it is started again.`,
    takes: "nothing",
    run: async (...given) => (await import("./serve.ts")).serve(...given),
  },
  studio: {
    usage: [["studio --store STORE", "a page in the browser that shows threads: journals, trees, states and prompts"]],
    options: {
      store,
      port: ["N", "the port; 0 for one that is free (default: 8090)"],
      options: ["MODULE", "the options of the machine that the threads run under: its policy, budget and counter"],
      ...conversing,
    },
    sections: {
      store: "What is looked at",
      model: "The model that a turn is tried again with, and what it sees",
      agent: "Agents and tools",
    },
    examples: ["colloquy studio --store threads.db", "colloquy studio --store threads.db --options machine.ts"],
    about: `Looking changes nothing: a lease is taken only to answer an approval or to try a turn again, which happens in a copy of its thread. It listens on 127.0.0.1, where any process of this machine reaches it.`,
    takes: "nothing",
    run: async (...given) => (await import("./studio.ts")).studio(...given),
  },
  compare: {
    usage: [["compare JOURNALS [options]", "what two configurations would send in recorded conversations"]],
    options: {
      before: ["MODULE", "the options of the one configuration"],
      after: ["MODULE", "the options of the other; if it breaks a law, the exit code is 1"],
    },
    about: journals,
    takes: "paths",
    run: async (...given) => (await import("./compare.ts")).compare(...given),
  },
  explain: {
    usage: [["explain JOURNAL [options]", "what the next prompt would show of one, and why"]],
    options: {
      options: ["MODULE", "the options of the machine"],
      at: ["ENTRY", "the number of the entry to stop behind (default: the last)"],
    },
    about: journals,
    takes: "paths",
    run: async (...given) => (await import("./explain.ts")).explainJournal(...given),
  },
  rerun: {
    usage: [["rerun JOURNALS [options]", "recorded conversations, asked again and side by side"]],
    options: {
      model: ["NAME", "the model (default: OPENAI_MODEL, else gpt-4o-mini)"],
      "base-url": ["URL", "a server that speaks OpenAI's chat completions (default: OPENAI_BASE_URL, else OpenAI's)"],
      system: ["TEXT", "the system prompt (default: the one that a turn was recorded with)"],
      options: ["MODULE", "the options of the machine, with its tools: calls are answered from the recordings"],
      metric: ["MODULE", "its default export scores a turn: ({ question, answer, tools }, recorded) => number"],
      history: ["own", "questions stand behind the answers of this time (default: recorded)"],
    },
    about: journals,
    takes: "paths",
    run: async (...given) => (await import("./rerun.ts")).rerunJournals(...given),
  },
  replay: {
    usage: [["replay FILES [options]", "whether today's configuration would send what was logged"]],
    options: {
      options: ["MODULE", "the options of the machine, with its tools"],
      system: ["TEXT", "the system prompt of today (default: the logged one)"],
      from: ["FORMAT", "journal, exchanges, chat, responses, model, ui or langchain (default: detected)"],
      repair: ["", "mend messages: calls without results, results without calls; each is reported"],
    },
    examples: ["colloquy replay log.jsonl --options machine.ts"],
    about:
      "Calls no model. Prints the first difference of each conversation, with its step and its words; then the exit code is 1.",
    takes: "paths",
    run: async (...given) => (await import("./replay.ts")).replayLogs(...given),
  },
  threads: {
    usage: [["threads --store STORE", "the threads that are kept, newest first"]],
    options: { store, find: ["WORDS", "where all of these words were said"] },
    takes: "nothing",
    run: async (_, ...given) => (await import("./threads.ts")).listThreads(...given),
  },
  export: {
    usage: [
      ["export THREAD --store STORE", "a thread, as its journal or as messages"],
      ["export --all --to FOLDER --store STORE", "all of them, each as a file"],
      ["export --all --as sft --to FILE --store STORE", "all of them, as one data set for training"],
    ],
    options: {
      store,
      as: ["FORMAT", `journal (default), ${messageFormats}; or ${datasets}, trl-messages, trl-preferences`],
      to: ["FILE", "a file that is not there yet, which only its owner may read (default: the output)"],
      all: ["", "every thread that is kept, each to a file in the folder --to"],
      options: ["MODULE", "of a data set: the options of the machine, with its tools and its counter"],
      per: ["turn|step", "of a data set: an example for each turn (default), or for each reply in it"],
      score: ["NAME", "of a data set: the annotation that scores a turn (default: score)"],
      "min-score": ["N", "of a data set: leave out what is scored lower, or not at all"],
    },
    takes: "paths",
    run: async (...given) => (await import("./export.ts")).exportThreads(...given),
  },
  import: {
    usage: [["import FILES --store STORE", "threads from journals, messages, sessions or data sets"]],
    options: {
      store,
      from: [
        "FORMAT",
        `the format of the files (default: each file's, by its content): journal, exchanges (logged requests and responses), ${messageFormats}, dspy-session; or ${datasets}`,
      ],
      thread: ["ID", "the thread to make (default: the journal's own; of messages: drawn)"],
      repair: ["", "mend messages: calls without results, results without calls; each is reported"],
    },
    takes: "paths",
    run: async (...given) => (await import("./import.ts")).importThreads(...given),
  },
  telemetry: {
    usage: [
      ["telemetry JOURNALS --to URL", "spans of recorded conversations, for OpenTelemetry"],
      ["telemetry THREADS --store STORE --to URL", "the same of threads that are kept"],
    ],
    options: {
      to: [
        "URL|FILE",
        "an OTLP endpoint, such as http://localhost:4318/v1/traces; or a file that is not there yet, which only its owner may read",
      ],
      store,
      all: ["", "every thread that is kept"],
      content: ["", "with prompts, replies, and arguments and results of tools (default: no word of them)"],
      protobuf: ["", "in protobuf (default: JSON, in a file a request a line)"],
      "header-file": ["FILE", "headers of the endpoint, a NAME: VALUE a line"],
    },
    about:
      "Journals are files in JSON lines, or folders of .jsonl files. The spans are those of the service that OTEL_SERVICE_NAME names (default: colloquy), and the same each time that they are sent.",
    takes: "paths",
    run: async (...given) => (await import("./telemetry.ts")).telemetry(...given),
  },
};

export const commandNamed = (name: string): Command | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined;
