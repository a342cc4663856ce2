//! A network in which nobody is allowed.

use std::net::{TcpListener, UdpSocket};

use super::less::{self, Kernel};
use super::scene::Scene;
use super::table;

/// Somebody of this machine who is not allowed, at one number by TCP and by UDP.
struct Neighbour {
    stream: TcpListener,
    datagrams: UdpSocket,
}

impl Neighbour {
    fn new() -> Self {
        let both = || {
            let stream = TcpListener::bind("127.0.0.1:0").ok()?;
            let datagrams = UdpSocket::bind(stream.local_addr().ok()?).ok()?;
            stream.set_nonblocking(true).ok()?;
            datagrams.set_nonblocking(true).ok()?;
            Some(Self { stream, datagrams })
        };
        // The number may be taken for the one, and not for the other.
        (0..100).find_map(|_| both()).unwrap()
    }

    fn was_reached(&self) -> bool {
        self.stream.accept().is_ok() || self.datagrams.recv(&mut [0; 16]).is_ok()
    }
}

fn nobody_is_reached(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "egress = []\n", ordinary);
    let neighbour = Neighbour::new();
    let port = neighbour.stream.local_addr().unwrap().port();
    scene.more = serde_json::json!({"port": port});
    let (row, all) = scene.attempt(&["loopback-port", "udp"]);
    table::print(&format!("network, {kernel:?}"), &row, &all);
    assert_eq!(all.len(), 2, "{kernel:?}: {row:#}");
    // In a network of its own, a datagram leaves and goes nowhere.
    let own = row["sandbox"]["network"] == "isolated";
    let through: Vec<bool> = all.iter().map(|went| went.through).collect();
    assert_eq!(through, [false, own], "{kernel:?}: {all:?}");
    assert!(!neighbour.was_reached(), "{kernel:?}: {row:#}");
    kernel.is_in(&row);
    table::holds(kernel, ordinary, &row, &all);
    scene.is_healthy();
}

#[test]
fn a_port_of_this_machine_that_is_not_allowed_is_not_reached() {
    for ordinary in less::users() {
        nobody_is_reached(&Kernel::FULL, ordinary);
    }
}

#[test]
fn nor_is_it_where_the_kernel_has_less() {
    for kernel in Kernel::LESS {
        if kernel.has_walls {
            nobody_is_reached(kernel, false);
        }
    }
}
