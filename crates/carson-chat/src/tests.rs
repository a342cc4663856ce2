//! A scripted Slack on this machine: real HTTP, and a real WebSocket.

mod clicks;
mod files;
mod kept;
mod plans;
mod said;
mod sockets;
mod stage;
