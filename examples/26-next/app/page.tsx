"use client";
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { useEffect, useState } from "react";

const id = "chat-1"; // one for each conversation
const transport = new DefaultChatTransport({ api: "/api/chat" });

export default function Page() {
  const [text, setText] = useState("");
  const { messages, setMessages, sendMessage, status, error, stop } = useChat({ id, transport, resume: true });
  useEffect(() => {
    const load = async () => setMessages((await (await fetch(`/api/chat/${id}/messages`)).json()) as UIMessage[]);
    void load();
  }, [setMessages]);
  return (
    <main>
      {messages.map(({ id: key, role, parts }) => (
        <p key={key}>
          {role}: {parts.map((part) => (part.type === "text" ? part.text : null))}
        </p>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
          setText("");
        }}
      >
        <input value={text} onChange={(event) => setText(event.target.value)} aria-label="Your message" />
        {status === "streaming" ? <button onClick={stop}>Stop</button> : <button>Send</button>}
      </form>
    </main>
  );
}
