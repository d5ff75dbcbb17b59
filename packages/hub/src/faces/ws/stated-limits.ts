/** The limits that a client of `/ws` is told of. */
export interface StatedLimits {
  messages_per_minute: number;
  messages_burst: number;
  agent_messages_per_minute: number;
  agent_messages_burst: number;
  frame_bytes: number;
}

/** How they are told: to everybody in a header of the handshake, to an agent in the answer to its registration. */
export function statedLimits(settings: StatedLimits) {
  const client = { perMinute: settings.messages_per_minute, burst: settings.messages_burst };
  const agent = { perMinute: settings.agent_messages_per_minute, burst: settings.agent_messages_burst };
  const { frame_bytes: frameBytes } = settings;
  const rate = ({ perMinute, burst }: typeof client): string => `per_minute=${perMinute};burst=${burst}`;
  return {
    header: `client;${rate(client)}, agent;${rate(agent)}, frame;bytes=${frameBytes}`,
    result: { messagesPerMinute: agent.perMinute, messagesBurst: agent.burst, frameBytes },
  };
}
