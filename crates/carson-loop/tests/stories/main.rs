//! Stories with real executors, real git and real files.

#![cfg(test)]

mod killed;
mod outside;
mod plan;
mod ralph;
mod repository;
mod shared;
mod six;
mod tree;
