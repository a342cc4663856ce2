//! `carson mcp` and what the daemon serves: the binary over real pipes and connections, and three clients
//! that are not ours, which call every tool that there is.

mod binary;
mod claude;
mod codex;
mod daemon;
mod hostile;
mod node;
mod scene;
