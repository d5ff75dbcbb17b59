/** The examples of the message schema of `/ws`, word for word. */
export const EXAMPLES = {
  status_request: `{
  "id": "550e8400-e29b-41d4-a716-446655440000",
  "type": "status_request",
  "timestamp": "2026-02-11T10:30:00Z",
  "source": "dashboard-backend",
  "target": "atreides-agent"
}`,
  status_update: `{
  "id": "550e8400-e29b-41d4-a716-446655440001",
  "type": "status_update",
  "timestamp": "2026-02-11T10:30:01Z",
  "source": "atreides-agent",
  "target": "dashboard-backend",
  "payload": {
    "agentId": "atreides-001",
    "status": "online",
    "lastSeen": "2026-02-11T10:30:01Z",
    "capabilities": ["research", "analysis", "code-review"],
    "metadata": {
      "version": "1.0.0",
      "uptime": 86400,
      "healthScore": 95
    }
  }
}`,
  command: `{
  "id": "550e8400-e29b-41d4-a716-446655440002",
  "type": "command",
  "timestamp": "2026-02-11T10:31:00Z",
  "source": "dashboard-backend",
  "target": "sisyphus-agent",
  "payload": {
    "command": "run_task",
    "parameters": {
      "taskId": "task-123",
      "taskType": "health_check"
    }
  }
}`,
  command_response: `{
  "id": "550e8400-e29b-41d4-a716-446655440003",
  "type": "command_response",
  "timestamp": "2026-02-11T10:31:05Z",
  "source": "sisyphus-agent",
  "target": "dashboard-backend",
  "payload": {
    "requestId": "550e8400-e29b-41d4-a716-446655440002",
    "success": true,
    "result": {
      "taskId": "task-123",
      "status": "completed",
      "output": "All systems operational"
    },
    "executionTime": 234
  }
}`,
  event: `{
  "id": "550e8400-e29b-41d4-a716-446655440004",
  "type": "event",
  "timestamp": "2026-02-11T10:35:00Z",
  "source": "atreides-agent",
  "target": "dashboard-backend",
  "payload": {
    "eventType": "task_completed",
    "agentId": "atreides-001",
    "data": {
      "taskId": "task-456",
      "result": "Research summary generated",
      "artifacts": ["summary.md"]
    }
  }
}`,
  error: `{
  "id": "550e8400-e29b-41d4-a716-446655440005",
  "type": "error",
  "timestamp": "2026-02-11T10:40:00Z",
  "source": "sisyphus-agent",
  "target": "dashboard-backend",
  "payload": {
    "code": "TASK_TIMEOUT",
    "message": "Task execution exceeded timeout limit",
    "details": {
      "taskId": "task-789",
      "timeout": 30000
    },
    "recoverable": true
  }
}`,
} as const;
