require "fileutils"
class Place
  def initialize(path) = @path = path
  def install(*files)
    FileUtils.mkdir_p(@path)
    files.flatten.each { |file| raise "no #{file}" unless File.file?(file); FileUtils.cp(file, @path) }
  end
  def to_s = @path
end
class Formula
  class << self
    %w[desc homepage url sha256].each { |word| define_method(word) { |said| puts "#{word} #{said}" } }
    def license(said) = puts("license #{said}")
    def depends_on(said) = puts("depends_on #{said.inspect}")
    def test(&block) = define_method(:tested, &block)
  end
  def version = "0.1.0"
  def place(below) = Place.new("#{ENV.fetch("PREFIX")}/#{below}")
  def bin = place("bin")
  def man1 = place("share/man/man1")
  def bash_completion = place("etc/bash_completion.d")
  def zsh_completion = place("share/zsh/site-functions")
  def fish_completion = place("share/fish/vendor_completions.d")
  def shell_output(line) = `#{line}`
  def assert_match(expected, got) = (raise "#{got.inspect} has no #{expected}" unless got.include?(expected))
end
load ARGV.fetch(0)
carson = Carson.new
raise "no caveats" if carson.caveats.empty?
Dir.chdir(ARGV.fetch(1)) { carson.install }
carson.tested
